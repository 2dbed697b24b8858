"""Durable jobs beside the queues people use for them: see ../durable."""
