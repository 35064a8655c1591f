"""Sends a span and a log record, and prints the trace id."""

import logging
import os

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

url = os.environ["AXIOM_URL"]
headers = {"Authorization": f"Bearer {os.environ['AXIOM_TOKEN']}", "X-Axiom-Dataset": "otel-py"}

traces = TracerProvider()
traces.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces", headers=headers)))
with traces.get_tracer("stage").start_as_current_span("checkout") as span:
    print(f"{span.get_span_context().trace_id:032x}")

logs = LoggerProvider()
logs.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(f"{url}/v1/logs", headers=headers)))
logger = logging.getLogger("stage")
logger.addHandler(LoggingHandler(logger_provider=logs))
logger.warning("it is done")

traces.shutdown()
logs.shutdown()
