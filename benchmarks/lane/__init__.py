"""The parts of model_lane.py: networks, and what one process measures on one device."""
