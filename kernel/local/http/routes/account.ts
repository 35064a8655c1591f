import type { FastifyInstance } from 'fastify';
import { LocalError } from '../../local-errors.js';

/** The only user of a service on a personal machine. */
export const localUser = {
  id: 'local',
  name: 'local',
  email: '',
  role: { id: 'owner', name: 'Owner' },
} as const;

/** Start date for anything that has none. */
const longAgo = '2026-01-01T00:00:00Z';

/** A license that is neither bought nor limited. */
const license = {
  id: 'local',
  tier: 'personal',
  issuer: 'local',
  issuedTo: 'local',
  issuedAt: longAgo,
  validFrom: longAgo,
  expiresAt: '2100-01-01T00:00:00Z',
  monthlyIngestGb: 0,
  monthlyQueryGbHours: 0,
  apiRateLimitPerSecond: 0,
  maxUsers: 1,
  maxFields: 0,
  maxDatasets: 0,
  maxMonitors: 0,
  maxEndpoints: 0,
  maxQueryWindowSeconds: 0,
  maxAuditWindowSeconds: 0,
  withAuths: [],
  features: {},
  billingPeriodStart: longAgo,
  billingPeriodEnd: '2100-01-01T00:00:00Z',
  defaultEdgeDeployment: '',
  edgeDeployments: [],
} as const;

const organization = {
  id: 'local',
  name: 'local',
  slug: 'local',
  plan: 'personal',
  planCreated: longAgo,
  lastUsageSync: longAgo,
  role: 'owner',
  primaryEmail: '',
  license,
  paymentStatus: 'na',
  metaCreated: longAgo,
  metaModified: longAgo,
} as const;

/** Objects that a local service does not have: lists of them are empty, no id is known, and none can be created. */
const absent: readonly (readonly [path: string, what: string])[] = [
  ['/v2/dashboards', 'dashboards'],
  ['/v2/monitors', 'monitors'],
  ['/v2/notifiers', 'notifiers'],
  ['/v2/rbac/groups', 'user groups'],
  ['/v2/rbac/roles', 'roles'],
  ['/v2/tokens', 'other tokens'],
  ['/v2/views', 'views'],
];

/** Operations refused by name; `*` matches any rest of a path. */
const refused: readonly (readonly [methods: readonly Method[], path: string, what: string])[] = [
  [['PUT'], '/v2/user', 'changes to its user'],
  [['POST'], '/v2/users', 'other users'],
  [['PUT', 'DELETE'], `/v2/users/${localUser.id}`, 'changes to its user'],
  [['PUT'], `/v2/users/${localUser.id}/role`, 'changes to its user'],
  [['POST'], '/v2/orgs', 'other organizations'],
  [['POST'], '/v2/orgs/provision', 'other organizations'],
  [['PUT'], '/v2/orgs/:id', 'changes to its organization'],
  [['POST'], '/v1/query/_mpl', 'metrics'],
  [['GET', 'POST'], '/v1/query/metrics/*', 'metrics'],
  [['POST'], '/v1/metrics', 'metrics'],
];

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const changing: readonly Method[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Adds the account routes, and those for objects that the service does not have. */
export function addAccountRoutes(app: FastifyInstance): void {
  app.get('/v2/user', () => localUser);
  app.get('/v1/user', () => ({ ...localUser, role: localUser.role.id, permissions: [], emails: [] }));
  app.get('/v2/users', () => [localUser]);
  app.get(`/v2/users/${localUser.id}`, () => localUser);
  haveNone(app, '/v2/users/*', 'other users');
  app.get('/v2/orgs', () => [organization]);
  app.get<{ readonly Params: { readonly id: string } }>('/v2/orgs/:id', ({ params }) => {
    if (params.id === organization.id) return organization;
    throw unknown('other organizations', params.id);
  });
  for (const [path, what] of absent) {
    app.get(path, () => []);
    refuse(app, changing, path, what);
    haveNone(app, `${path}/*`, what);
  }
  for (const [methods, path, what] of refused) refuse(app, methods, path, what);
}

/** Responds to any operation on such an object that there is none. */
function haveNone(app: FastifyInstance, url: string, what: string): void {
  app.route<{ readonly Params: { readonly '*': string } }>({
    method: ['GET', ...changing],
    url,
    handler: ({ params }) => {
      const [first = '', second = ''] = params['*'].split('/');
      throw unknown(what, first === 'uid' ? second : first);
    },
  });
}

function unknown(what: string, id: string): LocalError {
  const message = `The local service has no ${what}, so none has the ID ${JSON.stringify(id)}.`;
  return new LocalError('not-found', 'not-found', message);
}

/** Refuses before the body is read, so the reason is the same whatever its type. */
function refuse(app: FastifyInstance, methods: readonly Method[], url: string, what: string): void {
  const answer = async () => {
    throw new LocalError('not-supported', 'not-supported', `The local service does not support ${what}.`);
  };
  app.route({ method: [...methods], url, onRequest: answer, handler: answer });
}
