"""Runs the relay and its peers under the same load, in turns, and compares them."""
