"""What stands in for the outside world while a row runs: servers on loopback."""
