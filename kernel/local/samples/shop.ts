import { present } from '../../present.js';
import { weighted } from './random.js';

/** The services of the shop. Each trace names them as one release of the shop does: as here, or as in `FORMER_NAMES`. */
export const FORMER_NAMES: Readonly<Record<string, string>> = {
  'frontend-proxy': 'frontendproxy',
  checkout: 'checkoutservice',
  cart: 'cartservice',
  'product-catalog': 'productcatalogservice',
};

/** An operation of a service, the median of the time that it takes itself in milliseconds, and the operations that it calls. */
interface Step {
  readonly service: string;
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  readonly ms: number;
  readonly calls?: readonly Step[];
  /** It is called together with the call before it. */
  readonly isAlongside?: boolean;
  readonly method?: 'GET' | 'POST';
  readonly database?: string;
  /** Its line in the logs, in which `{user}` and `{amount}` stand for those of the request. */
  readonly line?: string;
  /** A failure of what it calls is not a failure of its own. */
  readonly isTolerant?: boolean;
}

/** A failure of an operation: how often it happens in a request, usually and in an outage, and what its span says. */
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
  /** What handles its message afterwards, in a trace of its own that links to it. */
  readonly later?: Step;
  readonly failures: readonly Failure[];
}

/** A request enters by the proxy and is served by the frontend, which makes the calls. */
function request(method: 'GET' | 'POST', path: string, calls: readonly Step[]): Step {
  const name = `${method} ${path}`;
  const served: Step = { service: 'frontend', name, kind: 'server', ms: 3, method, calls };
  return entered(method, name, served, 1);
}

/** The service of the root, which is the browser or the load generator. */
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

/** A call by gRPC: the span of the caller and that of the service. */
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

/** What customers do: each request by its weight, with what may go wrong. */
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

/** A span of a scenario: where it stands in the tree, counted from 0 in the order of its scenarios' spans. */
export interface Stop {
  readonly step: Step;
  readonly parent: number | undefined;
  /** Spans above it. */
  readonly above: readonly number[];
  /** The last span below it, or itself. */
  readonly last: number;
  /** The first of the calls that it, or what called it, is made together with; and the one that is. */
  readonly together: readonly [first: number, own: number] | undefined;
  readonly isFailed: boolean;
  /** The failure began with it. */
  readonly isOrigin: boolean;
  /** It belongs to the trace that comes later. */
  readonly isLater: boolean;
}

/** One way in which a journey may go: all of it, or one of its failures, which travels up and leaves out what would follow. */
export interface Scenario {
  readonly stops: readonly Stop[];
  readonly failure: Failure | undefined;
}

/** The scenarios of a journey: first that without a failure. */
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

/** Adds the spans of a step; true when it failed. */
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

/** The place of the journey of a request, for a random choice. */
export const CHOICES: readonly string[] = weighted(
  Object.fromEntries(JOURNEYS.map(({ weight }, place) => [String(place), weight])),
);
