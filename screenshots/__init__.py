"""Pictures of the program for the README, and the script that takes them."""
