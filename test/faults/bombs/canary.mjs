import { parentPort, workerData } from 'node:worker_threads';

/**
 * Asks a light query again and again, on a thread of its own: what else the test does takes none of its time. Posts the latencies, in
 * milliseconds, and the answers that were not as expected, once it is told to end.
 */
const { url, token, apl, value } = workerData;
let over = false;
const port = parentPort;
if (port === null) throw new Error('this is the code of a worker');
port.once('message', () => {
  over = true;
});
const latencies = [];
const wrong = [];
while (!over) {
  const startedMs = performance.now();
  const response = await fetch(`${url}/v1/datasets/_apl?format=tabular`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apl, startTime: '2020-01-01T00:00:00Z', endTime: '2030-01-01T00:00:00Z' }),
  });
  const text = await response.text();
  latencies.push(performance.now() - startedMs);
  if (!text.includes(`"columns":[[${value}]]`)) wrong.push(text.slice(0, 500));
  await new Promise(resolve => {
    setTimeout(resolve, 100);
  });
}
port.postMessage({ latencies, wrong });
