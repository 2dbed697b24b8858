"""The Celery side of a full life: a task that posts its body to the upstream over a kept connection."""

import http.client
import os
import threading

from celery import Celery

app = Celery("bench", broker=os.environ["BROKER"])
app.conf.update(
    task_ignore_result=True, task_acks_late=True, worker_prefetch_multiplier=64, worker_send_task_events=False,
    worker_disable_rate_limits=True)
_local = threading.local()


@app.task(name="deliver")
def deliver(body):
    connection = getattr(_local, "connection", None)
    if connection is None:
        connection = _local.connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["UPSTREAM"]))
    connection.request("POST", "/x", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(answer.status)
