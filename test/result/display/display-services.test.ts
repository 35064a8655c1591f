import { expect, test } from 'vitest';
import { type Figures, mapText } from '../../../kernel/result/display/display-services.js';

const figures = (calls: number, failed: number): Figures => ({
  ...{ calls, failed, rate: calls / 60, p50: '1ms', p95: '20ms' },
});

test('a text map of services has a line for each service and its calls', () => {
  const services = [
    { name: 'web', figures: figures(120, 0) },
    { name: 'cart', figures: figures(60, 0.05) },
    { name: 'db', figures: figures(6, 0) },
  ];
  const calls = [
    { caller: undefined, service: 'web', figures: figures(120, 0) },
    { caller: 'web', service: 'cart', figures: figures(60, 0.05) },
    { caller: 'web', service: 'db', figures: figures(3, 0) },
    { caller: 'cart', service: 'db', figures: figures(3, 0) },
  ];
  expect(mapText('Services', services, calls).split('\n')).toEqual([
    'Services',
    '3 services and 3 call paths between them; 1 service with 1% or more failed requests, in red.',
    '',
    'web: 2/s, p95 20ms → cart, db',
    'cart: 1/s, 5% failed, p95 20ms → db',
    'db: 6/min, p95 20ms',
  ]);
});
