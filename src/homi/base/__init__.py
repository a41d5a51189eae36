"""What every classifier shares: the contract, input checks, targets."""
