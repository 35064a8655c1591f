import { serviceErrorCode } from '../../errors.js';
import { present } from '../../present.js';
import { withoutTokens } from '../../text.js';
import {
  type ApiError,
  BudgetError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  PlanLimitError,
  QueryError,
  RateLimitError,
  RequestError,
  ServiceError,
  TruncatedAnswerError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from '../api-errors.js';
import { isOurClock, limitReset, type Reset, readRetryAfter, untilReset } from '../pacing/reset.js';
import { type Endpoint, isOwnService } from '../profile.js';
import { type ErrorBody, readErrorBody } from '../wire.js';
import { reasonIn, reasonInXml } from './reason.js';
import { gatewayHint, pageHint, refusedHint } from './statuses.js';
import { type Attempt, cutOffCodes, endedHint, errorCodes } from './transport.js';

/** An error response: status, headers with lowercase names, and body as text. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Returns the error for an unsuccessful response. */
export function refusalError(attempt: Attempt, refusal: Refusal): ApiError {
  const { status, headers } = refusal;
  const { endpoint } = attempt;
  if (status === 206) return truncatedError(attempt);
  const body = parseJson(refusal.body);
  const detail = readErrorBody(body)?.detail;
  const page = body === undefined ? pageKind(refusal) : undefined;
  const reason = clean(detail?.message || reasonIn(body) || plainReason(refusal, page), endpoint);
  const traceId = identifier(headerText(headers, 'x-axiom-trace-id'), endpoint);
  const shared = { status, ...present({ traceId }) };
  const said = page === undefined ? undefined : pageError(attempt, status, page, reason);
  if (said !== undefined) return said;
  const shown = detail?.hint === undefined ? shared : { ...shared, hint: clean(detail.hint, endpoint) };
  if (status >= 300 && status < 400) return redirectError(attempt, refusal);
  if (status === 400) return badRequest(attempt, detail, reason, shown);
  if (status === 429) return tooMany(attempt, refusal, reason, shown);
  return statusError(attempt, status, reason, shown);
}

/** Returns the error for a response with headers but an incomplete body. */
export function bodyError(attempt: Attempt, error: unknown): ApiError {
  if (error instanceof RangeError) {
    return answerTooLarge(`the response from ${attempt.host} does not fit into memory`, error);
  }
  if (!errorCodes(error).includes('Z_DATA_ERROR')) return truncatedError(attempt, error);
  return new UnexpectedAnswerError(
    `the response from ${attempt.host} is damaged: it is declared as gzip but is not`,
    {
      code: 'damaged-answer',
      hint: 'Run the cell again. If it fails again, a proxy on the way may be changing responses.',
      cause: error,
    },
  );
}

/** Returns the error for a response of more than `maxBytes`, a whole number of MiB. */
export function tooLargeError(attempt: Attempt, maxBytes: number): ApiError {
  const limit = `${maxBytes / (1024 * 1024)} MiB`;
  return answerTooLarge(`the response from ${attempt.host} is larger than ${limit}, the maximum size`);
}

/** Returns the error for a response in an encoding that was not requested. */
export function encodingError(attempt: Attempt, encoding: string): ApiError {
  const names = encoding.split(',').map(each => identifier(each.trim(), attempt.endpoint));
  const name = names.includes(undefined) ? 'something unknown' : names.join(', ');
  return new UnexpectedAnswerError(
    `the response from ${attempt.host} is encoded as ${name}, which was not requested`,
    {
      code: 'content-encoding',
      hint: 'A proxy on the way to the service may compress the responses: let it pass them on unchanged.',
    },
  );
}

/** Returns the error inside a response whose status reports success; undefined for any other body. */
export function hiddenError(
  attempt: Attempt,
  headers: Refusal['headers'],
  body: string,
): ApiError | undefined {
  const value = parseJson(body);
  const found = readErrorBody(value) ?? errorsIn(value);
  if (found === undefined || Object.hasOwn(value as object, 'tables')) return undefined;
  const code = Number(found.code);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : 500;
  return refusalError(attempt, { status, headers, body });
}

/** Returns the error in a response of another service, from a member `error` or `errors`. */
function errorsIn(value: unknown): ErrorBody | undefined {
  const { error, errors } = Object(value) as Record<string, unknown>;
  const message = reasonIn(errors ?? error);
  return message === '' ? undefined : { code: '', message };
}

/** Returns the error for a response with trailing data. */
export function trailingError(attempt: Attempt): ApiError {
  return strangeError(attempt, 'has extra text after its JSON');
}

/** Returns the error for a truncated response. */
export function truncatedError(attempt: Attempt, cause?: unknown): ApiError {
  if (isOwnService(attempt.endpoint) && errorCodes(cause).some(code => cutOffCodes.includes(code)))
    return new TruncatedAnswerError('the local service ended before its response was complete', {
      code: 'truncated-answer',
      hint: endedHint,
      cause,
    });
  return new TruncatedAnswerError(`the response from ${attempt.host} ended before it was complete`, {
    code: 'truncated-answer',
    hint: 'Run the cell again. A smaller result, from a narrower time range or with a limit, is more likely to arrive.',
    cause,
  });
}

/** Returns the error for a successful response whose body does not have the API's shape. */
export function unexpectedBody(attempt: Attempt, body: string, cause?: unknown): ApiError {
  const page = pageKind({ headers: {}, body });
  if (page !== undefined) return htmlError(attempt, 200, page);
  const [, what] = strangeStarts.find(([start]) => start.test(body)) ?? [];
  if (what !== undefined) return strangeError(attempt, what, cause);
  return new UnexpectedAnswerError(`${attempt.host} did not respond with the API's JSON`, {
    code: 'not-json',
    hint: `Check the URL of the profile ${attempt.endpoint.profileName}: it should be the address of the API.`,
    cause,
  });
}

function strangeError(attempt: Attempt, what: string, cause?: unknown): ApiError {
  return new UnexpectedAnswerError(`the response from ${attempt.host} ${what}`, {
    code: 'not-json',
    hint: `Run the cell again. If it fails again, something on the way may be changing responses: check the URL of the profile ${attempt.endpoint.profileName}, and any proxy.`,
    cause,
  });
}

/** Beginnings of unexpected bodies, decoded as UTF-8, that may have been the API's. */
const strangeStarts: readonly (readonly [start: RegExp, what: string])[] = [
  [/^$/, 'is empty'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the first bytes of gzip
  [/^\u001f\ufffd/, 'is compressed with gzip more times than it declares'],
  [/^\ufffd\ufffd/, 'is not encoded as UTF-8'],
];

/** Returns the text without the endpoint's token and anything else that looks like a token. */
export function redact(text: string, endpoint?: Endpoint): string {
  return withoutTokens(endpoint?.token?.removedFrom(text) ?? text, 1);
}

/** Removes the endpoints' tokens, and what looks like one, from source that is stored; a very short token is not a secret. */
export function withoutSecrets(text: string, endpoints: readonly Endpoint[]): string {
  return withoutTokens(
    endpoints.reduce((rest, { token }) => token?.removedFrom(rest, SHORTEST_SECRET) ?? rest, text),
  );
}

const SHORTEST_SECRET = 8;

/** Returns a name chosen by the service, such as an error code or a trace id; undefined if it is not a name or contains a token. */
export function identifier(value: string | undefined, endpoint: Endpoint): string | undefined {
  if (value === undefined || !/^[\w.:-]{1,64}$/.test(value)) return undefined;
  return redact(value, endpoint) === value ? value : undefined;
}

/** Returns one header as a string. */
export function headerText(headers: Refusal['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Members of every error; a hint from the service is spread last and so overrides ours. */
interface Shared {
  readonly status: number;
  readonly traceId?: string;
  readonly hint?: string;
}

function answerTooLarge(message: string, cause?: unknown): ApiError {
  return new UnexpectedAnswerError(message, {
    code: 'answer-too-large',
    hint: 'Aggregate in the query, project fewer fields, or narrow the time range.',
    cause,
  });
}

function badRequest(attempt: Attempt, detail: ErrorBody['detail'], reason: string, shared: Shared): ApiError {
  const named = (code: string | undefined) => {
    const name = identifier(code, attempt.endpoint);
    return name === undefined ? undefined : serviceErrorCode(name);
  };
  if (attempt.action !== 'run a query') {
    const code = named(detail?.errorType) ?? 'bad-request';
    return new RequestError(`could not ${attempt.action}: ${reason || 'bad request'}`, { code, ...shared });
  }
  const { line, column, others = [] } = detail ?? {};
  return new QueryError(reason || 'the service rejected the query without giving a reason', {
    code: named(detail?.compileErrorCode) ?? named(detail?.errorType) ?? 'invalid-query',
    ...present({
      position: line !== undefined && line > 0 ? { line, column: Math.max(1, column ?? 1) } : undefined,
    }),
    ...present({
      hint:
        reason === ''
          ? `Check the query, and the URL of the profile ${attempt.endpoint.profileName}.`
          : undefined,
    }),
    others: others.map(each => ({
      position: { line: Math.max(1, each.line), column: Math.max(1, each.column) },
      message: clean(each.message, attempt.endpoint),
      ...present({ hint: each.hint === undefined ? undefined : clean(each.hint, attempt.endpoint) }),
    })),
    ...shared,
  });
}

function tooMany(attempt: Attempt, refusal: Refusal, reason: string, shared: Shared): ApiError {
  const header = (name: string) => {
    const value = headerText(refusal.headers, name);
    return value === undefined ? undefined : clean(value, attempt.endpoint);
  };
  const retryAfter = header('retry-after');
  const again =
    retryAfter === undefined
      ? ''
      : `; requests are accepted again ${resetText(readRetryAfter(retryAfter), refusal)}`;
  // Gateways send Retry-After with any 429.
  if (/\b(?:budget|spend)/i.test(reason)) {
    return new BudgetError(`the spend budget of this token is used up${quoted(reason)}${again}`, {
      code: 'budget-exhausted',
      hint: 'Wait until then, or ask an administrator of the organization to raise the budget.',
      ...shared,
    });
  }
  const kind = header('x-ratelimit-limit') === undefined && header('x-querylimit-limit') ? 'query' : 'rate';
  const scope = header('x-ratelimit-scope');
  const limit = header(`x-${kind}limit-limit`);
  const reset = limitReset(header);
  const which = [limit && `limit ${limit}`, scope && `per ${scope}`].filter(Boolean).join(' ');
  const when = reset === undefined ? again : `; it resets ${resetText(reset, refusal)}`;
  return new RateLimitError(
    `too many requests to ${attempt.host}${which && ` (${which})`}${quoted(reason)}${when}`,
    {
      code: 'rate-limited',
      hint: 'Wait a little, then run the cell again.',
      ...shared,
    },
  );
}

function statusError(attempt: Attempt, status: number, reason: string, shared: Shared): ApiError {
  const { endpoint, action, host } = attempt;
  const profile = `profile ${endpoint.profileName}`;
  switch (status) {
    case 401:
      return endpoint.token === undefined
        ? new UnauthorizedError(`${host} needs a token, and the ${profile} has none`, {
            code: 'unauthorized',
            hint: `\`%use ${endpoint.profileName}\` asks for one, and \`%login ${endpoint.profileName}\` signs in for one; to store a token from the console, put it in ~/.axiom.toml. \`%use local\` needs none.`,
            ...shared,
          })
        : new UnauthorizedError(`${host} does not accept the token of the ${profile}${quoted(reason)}`, {
            code: 'unauthorized',
            hint: tokenHint(endpoint),
            ...shared,
          });
    case 403:
      return new ForbiddenError(`the token of the ${profile} may not ${action}${quoted(reason)}`, {
        code: 'forbidden',
        hint: forbiddenHint(endpoint),
        ...shared,
      });
    case 404:
      return new NotFoundError(`could not ${action}: not found${quoted(reason)}`, {
        code: 'not-found',
        hint: missingHint(action),
        ...shared,
      });
    case 409:
      return action.startsWith('create')
        ? new ConflictError(`could not ${action}: it already exists${quoted(reason)}`, {
            code: 'exists',
            hint: 'Choose another name, or update the existing one.',
            ...shared,
          })
        : new ConflictError(
            `could not ${action}: something else changed it at the same time${quoted(reason)}`,
            {
              code: 'exists',
              hint: 'Run the cell again.',
              ...shared,
            },
          );
    case 430:
      return new PlanLimitError(`the query limit of the organization's plan is used up${quoted(reason)}`, {
        code: 'plan-limit',
        hint: 'Narrow the time range so that queries cost less, or wait for the next billing period.',
        ...shared,
      });
    default:
      return otherStatus(attempt, status, reason, shared);
  }
}

function otherStatus(
  { endpoint, host, action }: Attempt,
  status: number,
  reason: string,
  shared: Shared,
): ApiError {
  const trace = shared.traceId === undefined ? '' : ` (trace ${shared.traceId})`;
  if (status === 413) {
    return new RequestError(`could not ${action}: the request is too large for ${host}${quoted(reason)}`, {
      code: 'too-large',
      hint: 'Send less at once.',
      ...shared,
    });
  }
  if (status < 500) {
    return new RequestError(`${host} refused to ${action} with status ${status}${quoted(reason)}${trace}`, {
      code: 'refused',
      ...present({ hint: isOwnService(endpoint) ? undefined : refusedHint(status, endpoint.profileName) }),
      ...shared,
    });
  }
  // What the local service reports about a cluster already names the cluster.
  const isOfCluster = endpoint.engine !== undefined && reason !== '';
  const said = isOfCluster ? reason : `${host} failed with status ${status}${quoted(reason)}`;
  return new ServiceError(`${said}${trace}`, {
    code: 'service-failed',
    hint: failedHint(status, shared.traceId),
    ...shared,
  });
}

function failedHint(status: number, traceId: string | undefined): string {
  if (status === 504 || status === 503)
    return 'Run the cell again; if it fails again, narrow the time range.';
  if (status === 511 || status >= 520) return gatewayHint(status);
  const report = traceId === undefined ? 'report it' : 'report the trace id';
  return `Run the cell again; if it fails again, ${report} to the operator of the service.`;
}

function tokenHint({ profileName, token }: Endpoint): string {
  if (token?.kind === 'login')
    return `The sign-in may have been revoked, or belong to another service: \`%login ${profileName}\` signs in again.`;
  return `The token may be mistyped, expired or revoked, or belong to another region. Renew it in ~/.axiom.toml and write \`%use ${profileName}\`, or type one with \`%use ${profileName} --token\`.`;
}

function forbiddenHint(endpoint: Endpoint): string {
  if (endpoint.token?.kind === 'personal') {
    return endpoint.orgId === undefined
      ? 'A personal token (xapt-) also needs the organization: set org_id in ~/.axiom.toml or AXIOM_ORG_ID.'
      : 'Check that org_id is right; edge hosts refuse personal tokens (xapt-): use an API token (xaat-) there.';
  }
  return 'Use a token with that permission, or ask an administrator to grant it.';
}

/** Hint about the captive portal of a hotel or a train. */
const signIn =
  'if the network asks for a sign-in, open any page in a browser, sign in there, then run the cell again.';

function redirectError(attempt: Attempt, { status, headers }: Refusal): ApiError {
  const { host, endpoint } = attempt;
  const location = headerText(headers, 'location');
  const there = location !== undefined && URL.canParse(location) ? new URL(location) : undefined;
  const target = there === undefined || there.host === '' ? '' : ` to ${clean(there.host, endpoint)}`;
  const isCache = status === 304;
  const message = isCache
    ? `${host} responded that nothing has changed (status 304) instead of a result`
    : `${host} redirects${target} instead of answering (status ${status})`;
  const profile = `the profile ${endpoint.profileName}`;
  const isToTls = there?.protocol === 'https:' && host.split(':')[0] === there.hostname;
  const rest = isToTls
    ? `Write https:// in the URL of ${profile}.`
    : `Set the URL of ${profile} to the address of the API; ${signIn}`;
  const hint = isCache
    ? 'A cache on the way responds for the service: run the cell again, and configure the cache to let the API through.'
    : `The token is not sent on to other hosts. ${rest}`;
  return new UnexpectedAnswerError(message, { code: 'redirected', hint, status });
}

type PageKind = 'a web page' | 'XML';

/** Returns the error for a page; undefined if its status is just as informative. */
function pageError(attempt: Attempt, status: number, page: PageKind, reason: string): ApiError | undefined {
  if (status === 429 || (status >= 300 && status < 400)) return undefined;
  if (status >= 500) return gatewayError(attempt, status, page, reason);
  const hint = pageHint(status);
  if (hint !== undefined)
    return new UnexpectedAnswerError(
      `something in front of ${attempt.host} refuses the request, with ${page} (status ${status})`,
      { code: 'html-answer', hint, status },
    );
  return status === 400 || status === 404 ? htmlError(attempt, status, page) : undefined;
}

function htmlError(attempt: Attempt, status: number, page: PageKind): ApiError {
  const isPlain = status === 400 && attempt.endpoint.url.startsWith('http:');
  const secure = isPlain ? ' Ports that speak https need https:// in the URL.' : '';
  return new UnexpectedAnswerError(
    `${attempt.host} responded with ${page} (status ${status}) instead of the API's JSON`,
    {
      code: 'html-answer',
      hint: `A proxy, a sign-in page or a console may be at that address: check the URL of the profile (the API is https://api.axiom.co, not https://app.axiom.co); ${signIn}${secure}`,
      status,
    },
  );
}

/** Returns the error of a gateway: a load balancer, a proxy or another service that responds for the service. */
function gatewayError(attempt: Attempt, status: number, page: PageKind, reason: string): ApiError {
  const { host } = attempt;
  const said =
    status === 511
      ? `the network responded instead of ${host}`
      : `a gateway in front of ${host} responded for it`;
  return new ServiceError(`${said}, with ${page} (status ${status})${quoted(reason)}`, {
    code: 'service-failed',
    hint: gatewayHint(status),
    status,
  });
}

/** Returns the message in a body that is not JSON, or in the beginning of truncated JSON. */
function plainReason({ headers, body }: Refusal, page: PageKind | undefined): string {
  if (page !== undefined) return page === 'XML' ? reasonInXml(body) : '';
  const [, message] = /^\s*\{[\s\S]{0,500}?"message"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/.exec(body) ?? [];
  if (message !== undefined) return String(parseJson(`"${message}"`) ?? message);
  const type = headerText(headers, 'content-type') ?? 'text/plain';
  return /^text\/plain/i.test(type) && !/^\s*[<{[]/.test(body) ? body : '';
}

function missingHint(action: string): string {
  if (action.includes('starred')) return 'Check the id: `%stars --who all` lists starred queries.';
  if (action.includes('annotation')) return 'Check the id: `%annotate --list` lists annotations.';
  return 'Check the name: `%datasets` lists datasets.';
}

function pageKind({ headers, body }: Pick<Refusal, 'headers' | 'body'>): PageKind | undefined {
  if (/^\s*<\?xml/i.test(body)) return 'XML';
  const type = headerText(headers, 'content-type') ?? '';
  return /html/i.test(type) || /^\s*</.test(body) ? 'a web page' : undefined;
}

/** Relative to now if the service's clock differs from ours, since an absolute time would mislead. */
function resetText(reset: Reset | undefined, { headers }: Refusal): string {
  if (reset === undefined) return 'later';
  const date = headerText(headers, 'date');
  if ('at' in reset && isOurClock(date)) return `at ${new Date(reset.at).toISOString()}`;
  const ms = untilReset(reset, date);
  return ms < LONGEST_WAIT_MS ? `in ${secondsText(ms / 1000)}` : 'later';
}

/** A number beyond a year is an error. */
const LONGEST_WAIT_MS = 366 * 86_400_000;

function secondsText(seconds: number): string {
  if (seconds >= 2 * DAY) return `${Math.ceil(seconds / DAY)} d`;
  if (seconds >= HOUR) return `${Math.floor(seconds / HOUR)} h ${Math.ceil((seconds % HOUR) / 60)} min`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${Math.ceil(seconds % 60)} s`;
  return minutes === 0 ? rest : `${minutes} min ${rest}`;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

function quoted(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

/** Returns text from the service as one paragraph without tokens. */
function clean(text: string | undefined, endpoint: Endpoint): string {
  return text === undefined ? '' : redact(oneParagraph(text), endpoint);
}

function oneParagraph(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 2000 ? `${line.slice(0, 2000)}… (${line.length - 2000} more characters)` : line;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
