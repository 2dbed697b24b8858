"""Runs the relay and its peers under the same load and compares them."""
