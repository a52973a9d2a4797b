"""One Spark for all tests: two executors in processes of their own, speculation on, and a Connect server in the driver.

Whoever needs it asks for it. A session of another file is stopped first (`getOrCreate` would take it as it is, with its
number of failures allowed), and one that another file has stopped is started again: no order of tests matters.
"""

import os
import socket
import sys
from pathlib import Path

NAME = "tests of knoll"
ROOT = str(Path(__file__).parents[2])  # workers unpickle functions of tests
_REMOTE: dict = {}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executorEnv.PYTHONPATH": ROOT,
    "spark.task.maxFailures": "4",
    "spark.sql.shuffle.partitions": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "3",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
}


def session():
    """Return the session of these tests, started if need be."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is not None and running.appName == NAME:
        return SparkSession.builder.getOrCreate()
    stop()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = ROOT
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName(NAME)
    for name, value in {**SETTINGS, "spark.connect.grpc.binding.port": str(_free_port())}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def remote():
    """Return a session of Connect with the same Spark."""
    from pyspark.sql.connect.session import SparkSession

    if (where := address()) not in _REMOTE:  # getOrCreate would hand out one of a server that has ended
        _REMOTE[where] = SparkSession.builder.remote(where).create()
    return _REMOTE[where]


def address():
    """Return the address of the Connect server."""
    return f"sc://127.0.0.1:{session().conf.get('spark.connect.grpc.binding.port')}"


def stop():
    """Stop whatever session there is."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    while _REMOTE:
        _REMOTE.popitem()[1].stop()  # before its server: a client would wait for it when the process ends
    if SparkContext._active_spark_context is not None:
        SparkSession.builder.getOrCreate().stop()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
