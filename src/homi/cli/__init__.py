"""Every command, one module each; ``lazy.COMMANDS`` lists them."""
