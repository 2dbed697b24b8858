"""Hands COUNT jobs of BYTES to Celery, waits until all are acknowledged, prints the seconds of both."""

import sys
import time

import redis
from celery_job import app, deliver


def main():
    count, body = int(sys.argv[1]), "x" * int(sys.argv[2])
    queue = redis.Redis(unix_socket_path=app.conf.broker_url.removeprefix("redis+socket://"))
    begin = time.monotonic()
    with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
        for _ in range(count):
            deliver.apply_async((body,), producer=producer)
    handed_over = time.monotonic() - begin
    while queue.llen("celery") or queue.hlen("unacked"):
        time.sleep(0.005)
    print(handed_over, time.monotonic() - begin)


main()
