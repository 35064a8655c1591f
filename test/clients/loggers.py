"""Writes a record with each Python logging handler that sends to Axiom, and one with Loguru."""

import logging
import os

import axiom_py
from axiom_logger import AxiomHandler as PooledHandler
from axiom_py.logging import AxiomHandler
from loguru import logger as loguru

url, token, dataset = (os.environ[name] for name in ("AXIOM_URL", "AXIOM_TOKEN", "AXIOM_DATASET"))

pooled = PooledHandler(dataset, token, api_url=f"{url}/v1/datasets", mode="log_count", log_count=1)
logging.getLogger("axiom-logger").addHandler(pooled)
logging.getLogger("axiom-logger").warning("it is done")
pooled.send()

handler = AxiomHandler(axiom_py.Client(token, "local", url), dataset)
logging.getLogger("axiom-py").addHandler(handler)
logging.getLogger("axiom-py").warning("it is done")

loguru.remove()
loguru.add(handler, format="{message}")
loguru.warning("it is done")
handler.flush()
