import { afterEach, beforeEach } from 'vitest';
import { ApiError } from '../../kernel/api/api-errors.js';
import { type Client, createClient } from '../../kernel/api/client.js';
import { AccessToken, type Endpoint } from '../../kernel/api/profile.js';
import { type Service, startService, tabular } from './service.js';

export const secret = 'xaat-11111111-2222-3333-4444-555555555555';

export const request = {
  apl: 'web | count',
  startTime: '2026-03-04T04:00:00Z',
  endTime: '2026-03-04T05:00:00Z',
};

export const answer = tabular([{ name: 'n', type: 'integer' }], [[1]]);

/** A service for each test, with clients that are closed after the test. */
export interface Connections {
  readonly service: Service;
  /** Connects a client, by default with profile `prod` and a token. */
  connect(endpoint?: Partial<Endpoint>, timeLimitMs?: number, retryMs?: number): Client;
}

/** Starts a service before each test of a file; it answers each request with `answer`. */
export function useService(): Connections {
  let clients: Client[] = [];
  let service: Service;
  beforeEach(async () => {
    service = await startService(() => ({ body: answer }));
  });
  afterEach(async () => {
    await Promise.all(clients.map(client => client.close()));
    clients = [];
    await service.close();
  });
  return {
    get service() {
      return service;
    },
    connect(endpoint = {}, timeLimitMs, retryMs = 1) {
      const client = createClient(
        { profileName: 'prod', url: service.url, token: new AccessToken(secret), ...endpoint },
        { version: '1.2.3', retryMs, ...(timeLimitMs === undefined ? {} : { timeLimitMs }) },
      );
      clients.push(client);
      return client;
    },
  };
}

/** Returns the ApiError that `work` rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    reason => reason,
  );
  if (error instanceof ApiError) return error;
  throw error;
}
