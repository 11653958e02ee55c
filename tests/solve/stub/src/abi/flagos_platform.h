/* the contract, in miniature */
