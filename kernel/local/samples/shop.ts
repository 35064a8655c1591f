import { present } from '../../present.js';
import { weighted } from './random.js';

/** Earlier names of the shop's services. Each trace uses the names of one release: the current ones, or these. */
export const FORMER_NAMES: Readonly<Record<string, string>> = {
  'frontend-proxy': 'frontendproxy',
  checkout: 'checkoutservice',
  cart: 'cartservice',
  'product-catalog': 'productcatalogservice',
};

/** An operation of a service, the median of its own time in milliseconds, and the operations it calls. */
interface Step {
  readonly service: string;
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  readonly ms: number;
  readonly calls?: readonly Step[];
  /** Called in parallel with the previous call. */
  readonly isAlongside?: boolean;
  readonly method?: 'GET' | 'POST';
  readonly database?: string;
  /** Its log line, with `{user}` and `{amount}` as placeholders. */
  readonly line?: string;
  /** Failures of its calls do not make it fail. */
  readonly isTolerant?: boolean;
}

/** A failure of an operation: its share of requests, normally and in an outage, and the message of its span. */
interface Failure {
  readonly service: string;
  readonly name: string;
  readonly share: number;
  readonly outage?: number;
  readonly message: string;
}

/** A request to the shop. */
interface Journey {
  readonly weight: number;
  readonly root: Step;
  /** The operation that handles its message later, in a separate trace linked to this one. */
  readonly later?: Step;
  readonly failures: readonly Failure[];
}

/** Returns a request that enters through the proxy and is served by the frontend, which makes the calls. */
function request(method: 'GET' | 'POST', path: string, calls: readonly Step[]): Step {
  const name = `${method} ${path}`;
  const served: Step = { service: 'frontend', name, kind: 'server', ms: 3, method, calls };
  return entered(method, name, served, 1);
}

/** The root service: the browser or the load generator. */
export const ENTRANCE = 'frontend-web';

function entered(method: 'GET' | 'POST', name: string, served: Step, ms: number): Step {
  const proxy: Step = {
    service: 'frontend-proxy',
    name,
    kind: 'server',
    ms,
    method,
    calls: [served],
    line: name,
  };
  return { service: ENTRANCE, name: `HTTP ${method}`, kind: 'client', ms: 4, method, calls: [proxy] };
}

/** Returns a gRPC call: the spans of the caller and of the service. */
function call(
  caller: string,
  service: string,
  method: string,
  ms: number,
  more: Partial<Step> = {},
  calls: readonly Step[] = [],
): Step {
  const { line, ...callers } = more;
  const server: Step = { service, name: method, kind: 'server', ms, calls, ...present({ line }) };
  return { service: caller, name: method, kind: 'client', ms: 0.4, calls: [server], ...callers };
}

function served(service: string, name: string, ms: number, more: Partial<Step> = {}): Step {
  return { service, name, kind: 'server', ms, ...more };
}

function stored(service: string, database: string, name: string, ms: number): Step {
  return { service, name, kind: 'client', ms, database };
}

const getProduct = 'oteldemo.ProductCatalogService/GetProduct';
const convert = 'oteldemo.CurrencyService/Convert';
const charge = 'oteldemo.PaymentService/Charge';
const getAds = 'oteldemo.AdService/GetAds';
const selectProducts = stored('product-catalog', 'postgresql', 'SELECT products', 6);
const flag = served('flagd', 'flagd.evaluation.v1.Service/ResolveBoolean', 0.5);
const noProducts = { service: 'product-catalog', name: 'SELECT products', message: 'connection refused' };
const noCart = { service: 'cart', name: 'HGET cart', message: 'could not reach cart storage' };

/** Customer requests with their weights and possible failures. */
export const JOURNEYS: readonly Journey[] = [
  {
    weight: 12,
    root: request('GET', '/api/products', [
      call('frontend', 'product-catalog', getProduct, 2, { line: 'Product found' }, [selectProducts]),
      call('frontend', 'currency', convert, 1),
    ]),
    failures: [{ ...noProducts, share: 0.016 }],
  },
  {
    weight: 6,
    root: request('GET', '/api/recommendations', [
      served('recommendation', 'oteldemo.RecommendationService/ListRecommendations', 7, {
        line: 'Receive ListRecommendations for user {user}',
        calls: [
          flag,
          call('recommendation', 'product-catalog', 'oteldemo.ProductCatalogService/ListProducts', 3, {}, [
            selectProducts,
          ]),
        ],
      }),
    ]),
    failures: [{ ...noProducts, share: 0.012 }],
  },
  {
    weight: 5,
    root: request('GET', '/api/data', [
      call('frontend', 'ad', getAds, 5, { line: 'Targeted ad request received', isTolerant: true }, [flag]),
      served('image-provider', 'GET /images/banner.png', 3, { method: 'GET', isAlongside: true }),
    ]),
    failures: [{ service: 'ad', name: getAds, share: 0.03, message: 'deadline exceeded' }],
  },
  {
    weight: 6,
    root: request('GET', '/api/cart', [
      call(
        'frontend',
        'cart',
        'oteldemo.CartService/GetCart',
        1,
        { line: 'GetCart called with userId={user}' },
        [stored('cart', 'redis', 'HGET cart', 2)],
      ),
      served('currency', convert, 1),
    ]),
    failures: [{ ...noCart, share: 0.014 }],
  },
  {
    weight: 4,
    root: request('POST', '/api/cart', [
      call(
        'frontend',
        'cart',
        'oteldemo.CartService/AddItem',
        1.5,
        { line: 'AddItem called with userId={user}' },
        [stored('cart', 'redis', 'HGET cart', 2), stored('cart', 'redis', 'HSET cart', 2)],
      ),
    ]),
    failures: [{ ...noCart, share: 0.014 }],
  },
  {
    weight: 5,
    root: request('POST', '/api/checkout', [
      served('checkout', 'oteldemo.CheckoutService/PlaceOrder', 9, {
        line: 'PlaceOrder user_id={user}',
        calls: [
          served('cart', 'oteldemo.CartService/GetCart', 2, { line: 'GetCart called with userId={user}' }),
          served('shipping', 'POST /get-quote', 4, {
            method: 'POST',
            isAlongside: true,
            calls: [served('quote', 'POST /getquote', 6, { method: 'POST', line: 'Calculated quote' })],
          }),
          call('checkout', 'payment', charge, 24, { line: 'Charge request received, amount={amount} USD' }),
          served('email', 'POST /send_order_confirmation', 8, {
            method: 'POST',
            line: 'Order confirmation sent',
          }),
          { service: 'checkout', name: 'publish order', kind: 'producer', ms: 2 },
        ],
      }),
    ]),
    later: {
      service: 'frauddetectionservice',
      name: 'orders process',
      kind: 'consumer',
      ms: 5,
      line: 'Consumed record with order of user {user}',
      calls: [
        { service: 'frauddetectionservice', name: 'check order', kind: 'internal', ms: 12 },
        stored('frauddetectionservice', 'postgresql', 'INSERT orders', 5),
      ],
    },
    failures: [
      { service: 'payment', name: charge, share: 0.012, message: 'payment declined: card expired' },
      { service: 'payment', name: charge, share: 0.004, outage: 0.55, message: 'deadline exceeded' },
    ],
  },
  {
    weight: 2,
    root: entered(
      'GET',
      'GET /images/logo.png',
      served('image-provider', 'GET /images/logo.png', 4, { method: 'GET' }),
      1,
    ),
    failures: [
      { service: 'image-provider', name: 'GET /images/logo.png', share: 0.01, message: 'connection refused' },
    ],
  },
];

/** A span of a scenario with its place in the tree, numbered from 0 in span order. */
export interface Stop {
  readonly step: Step;
  readonly parent: number | undefined;
  /** Its ancestors. */
  readonly above: readonly number[];
  /** Its last descendant, or itself. */
  readonly last: number;
  /** The first of the parallel calls that include it or its caller, and that call itself. */
  readonly together: readonly [first: number, own: number] | undefined;
  readonly isFailed: boolean;
  /** The failure began here. */
  readonly isOrigin: boolean;
  /** Part of the later trace. */
  readonly isLater: boolean;
}

/** A possible outcome of a journey: success, or one of its failures, which propagates up and omits the steps after it. */
export interface Scenario {
  readonly stops: readonly Stop[];
  readonly failure: Failure | undefined;
}

/** Returns the scenarios of a journey, starting with success. */
export function scenariosOf(journey: Journey): readonly Scenario[] {
  const all = [undefined, ...journey.failures];
  return all.map(failure => {
    const stops: Stop[] = [];
    walk(journey.root, stops, { above: [], together: undefined, isLater: false, failure });
    if (failure === undefined && journey.later !== undefined)
      walk(journey.later, stops, { above: [], together: undefined, isLater: true, failure });
    return { stops, failure };
  });
}

interface Walked {
  readonly above: readonly number[];
  readonly together: Stop['together'];
  readonly isLater: boolean;
  readonly failure: Failure | undefined;
}

/** Adds the spans of a step; returns whether it failed. */
function walk(step: Step, stops: Stop[], walked: Walked): boolean {
  const { above, failure } = walked;
  const own = stops.length;
  const isOrigin =
    failure !== undefined &&
    step.kind !== 'internal' &&
    step.service === failure.service &&
    step.name === failure.name;
  const stop = {
    ...{ above, together: walked.together, isLater: walked.isLater },
    step,
    parent: above.at(-1),
    last: own,
    isFailed: isOrigin,
    isOrigin,
  };
  stops.push(stop);
  let first = own + 1;
  for (const each of isOrigin ? [] : (step.calls ?? [])) {
    const at = stops.length;
    if (!each.isAlongside) first = at;
    const together = each.isAlongside ? ([first, at] as const) : walked.together;
    const hasFailed = walk(each, stops, { ...walked, above: [...above, own], together });
    stop.last = stops.length - 1;
    if (!hasFailed) continue;
    stop.isFailed = true;
    break;
  }
  return stop.isFailed && step.isTolerant !== true;
}

/** The journey indexes, repeated by weight, for a random choice. */
export const CHOICES: readonly string[] = weighted(
  Object.fromEntries(JOURNEYS.map(({ weight }, place) => [String(place), weight])),
);
