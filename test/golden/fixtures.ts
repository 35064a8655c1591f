import type { FieldSchema } from '../../kernel/apl/plan/plan.js';
import { sqlText } from '../../kernel/local/duckdb/duckdb-literal.js';
import { type Fixture, secondsAgo } from '../local/queries.js';

const time: FieldSchema = { name: '_time', type: 'datetime' };

const http: Fixture = {
  open: false,
  fields: [
    time,
    { name: 'status', type: 'long' },
    { name: 'method', type: 'string' },
    { name: 'uri', type: 'string' },
    { name: 'req_duration_ms', type: 'real', unit: 'ms' },
    { name: 'geo.city', type: 'string' },
    { name: 'attrs', type: 'dynamic' },
  ],
  rows: [
    [
      secondsAgo(60),
      '200',
      `'GET'`,
      `'/api/users'`,
      '1.5',
      `'Berlin'`,
      `'{"user":{"id":7},"tags":["a","b"]}'`,
    ],
    [secondsAgo(50), '500', `'POST'`, `'/api/orders'`, '20.25', `'Paris'`, `'{"tags":[]}'`],
    [secondsAgo(40), '404', `'GET'`, `'/missing'`, '0.5', 'NULL', 'NULL'],
    [secondsAgo(30), '200', `'GET'`, `'/api/orders'`, 'NULL', `'Berlin'`, `'{"user":{"id":"x"}}'`],
    [secondsAgo(20), 'NULL', `'PUT'`, `''`, '3.0', `'Oslo'`, `'[1,2.5,null,"z"]'`],
    [secondsAgo(10), '200', 'NULL', `'/api/users'`, '2.0', `'Paris'`, `'"text"'`],
    [secondsAgo(4000), '200', `'GET'`, `'/too/old'`, '1.0', `'Rome'`, 'NULL'],
  ],
};

const traces: Fixture = {
  open: true,
  fields: [
    time,
    { name: 'trace_id', type: 'string' },
    { name: 'duration', type: 'timespan' },
    { name: 'service.name', type: 'string' },
    { name: 'status', type: 'string' },
    { name: 'error', type: 'bool' },
  ],
  rows: [
    [secondsAgo(60), `'t1'`, '1500000000', `'cart'`, `'OK'`, 'false'],
    [secondsAgo(45), `'t2'`, '250000', `'checkout'`, `'ERROR'`, 'true'],
    [secondsAgo(30), `'t3'`, 'NULL', `'cart'`, 'NULL', 'NULL'],
  ],
};

/** A dataset whose name and field names could break out of quoting. */
const hostile: Fixture = {
  open: false,
  fields: [
    time,
    { name: 'a"b', type: 'string' },
    { name: "c'd", type: 'long' },
    { name: 'e\\f', type: 'long' },
    { name: 'g\nh', type: 'long' },
    { name: '"; DROP TABLE x; --', type: 'long' },
    { name: 'ключ', type: 'string' },
    { name: 'Case', type: 'long' },
    { name: 'case', type: 'long' },
  ],
  rows: [[secondsAgo(5), sqlText(`'"\\; --`), '1', '2', '3', '4', sqlText('значение'), '5', '6']],
};

/** Datasets that the golden files read. */
export const fixtures: Readonly<Record<string, Fixture>> = {
  'http-logs': http,
  traces,
  'it\'s "quoted"; DROP': hostile,
};
