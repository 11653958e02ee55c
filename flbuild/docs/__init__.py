"""The documentation's site: pages of the tree and pages made of its facts, built by Sphinx, readable from a folder."""
