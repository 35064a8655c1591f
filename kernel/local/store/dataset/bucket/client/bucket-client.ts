import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type {
  GetObjectCommandOutput,
  ListObjectsV2CommandOutput,
  PutObjectCommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import { ApiError } from '../../../../../api/api-errors.js';
import { type BucketAddress, bucketAddressText } from '../../../../../api/api-imports.js';
import { present } from '../../../../../present.js';
import { cut, formatCount, visible } from '../../../../../text.js';
import { LocalError } from '../../../../local-errors.js';
import type { Meter } from './meter.js';

/** A listed object. */
export interface ObjectEntry {
  readonly key: string;
  readonly bytes: number;
  /** Its ETag; for an object without one, such as a file put into the directory of a server, when it was last changed. */
  readonly etag: string;
}

/** Result of a listing: objects, and directories unless it was recursive. */
export interface Listing {
  readonly objects: readonly ObjectEntry[];
  /** Full prefixes, ending with a slash. */
  readonly directories: readonly string[];
}

/** Request context: the meter that counts it, and the signal that aborts it. */
export interface Asking {
  readonly meter: Meter;
  readonly signal?: AbortSignal;
}

/** A local file that becomes an object. */
interface FileBody {
  readonly file: string;
  readonly bytes: number;
}

/** Maximum size of a body buffered for retries, in bytes; larger ones are streamed from disk. */
const mostRepeatedBytes = 64 * 2 ** 20;

/**
 * Reads and writes one bucket. Credentials, region and endpoint come from the usual AWS configuration. Throws LocalError without any detail
 * of the credentials.
 */
export class BucketClient {
  readonly address: BucketAddress;
  #opened: Promise<Opened> | undefined;

  constructor(address: BucketAddress) {
    this.address = address;
  }

  /** Whether the bucket is at AWS rather than a custom endpoint. */
  async isAws(): Promise<boolean> {
    return (await this.#open()).atAws;
  }

  /** Lists objects that begin with `prefix`, up to the next slash unless `deep`. */
  async list(prefix: string, deep: boolean, { meter, signal }: Asking): Promise<Listing> {
    const objects: ObjectEntry[] = [];
    const directories: string[] = [];
    const { client, sdk } = await this.#open();
    for (let token: string | undefined; ; ) {
      const command = new sdk.ListObjectsV2Command({
        Bucket: this.address.bucket,
        Prefix: prefix,
        ...present({ Delimiter: deep ? undefined : '/', ContinuationToken: token }),
      });
      const answer: ListObjectsV2CommandOutput = await client
        .send(command, present({ abortSignal: signal }))
        .catch(error => this.#refuse(error, prefix, signal));
      meter.lists++;
      countAgain(meter, answer);
      for (const { Key, Size = 0, ...version } of answer.Contents ?? [])
        if (Key !== undefined) objects.push({ key: Key, bytes: Size, etag: versionOf(version) });
      for (const { Prefix } of answer.CommonPrefixes ?? [])
        if (Prefix !== undefined) directories.push(Prefix);
      meter.listed += answer.Contents?.length ?? 0;
      token = answer.NextContinuationToken;
      if (answer.IsTruncated !== true || token === undefined) return { objects, directories };
    }
  }

  /** Reads bytes of a listed object; throws LocalError (`bucket-changed`) if it has changed or is gone. */
  async read(
    { key, etag, bytes }: ObjectEntry,
    from: number,
    to: number,
    { meter, signal }: Asking,
  ): Promise<Buffer> {
    if (to <= from) return Buffer.alloc(0);
    const { client, sdk } = await this.#open();
    const command = new sdk.GetObjectCommand({
      Bucket: this.address.bucket,
      Key: key,
      Range: `bytes=${from}-${to - 1}`,
      ...present({ IfMatch: isETag(etag) ? etag : undefined }),
    });
    const answer: GetObjectCommandOutput = await client
      .send(command, present({ abortSignal: signal }))
      .catch(error => this.#refuse(error, key, signal));
    meter.gets++;
    countAgain(meter, answer);
    const isSame = versionOf(answer) === etag && answer.ContentRange?.endsWith(`/${bytes}`) === true;
    // Some servers ignore the condition; the body is read in any case to free the socket.
    const body = Buffer.from(
      (await answer.Body?.transformToByteArray().catch(error => this.#refuse(error, key, signal))) ?? [],
    );
    meter.bytes += body.length;
    meter.objects.add(key);
    if (!isSame || body.length !== to - from) throw this.#changed(key, 'was changed');
    return body;
  }

  /** Writes an object atomically and returns its etag. Throws LocalError. */
  async put(key: string, body: Buffer | FileBody, { meter, signal }: Asking): Promise<string> {
    const { client, sdk } = await this.#open();
    const [bytes, file] = Buffer.isBuffer(body) ? [body.length] : [body.bytes, body.file];
    // The SDK retries a request only if it can read the body again.
    const whole = file === undefined || bytes > mostRepeatedBytes ? undefined : await readFile(file);
    const command = new sdk.PutObjectCommand({
      Bucket: this.address.bucket,
      Key: key,
      Body: whole ?? (Buffer.isBuffer(body) ? body : createReadStream(body.file)),
      ContentLength: bytes,
    });
    const answer: PutObjectCommandOutput = await client
      .send(command, present({ abortSignal: signal }))
      .catch(error => this.#refuse(error, key, signal, 'written'));
    countAgain(meter, answer);
    return answer.ETag ?? '';
  }

  #open(): Promise<Opened> {
    this.#opened ??= open(this.address.bucket).catch(error => {
      // The next request retries, as the profile may have been fixed.
      this.#opened = undefined;
      return this.#refuse(error, this.address.prefix, undefined);
    });
    return this.#opened;
  }

  #changed(key: string, how: string): LocalError {
    const message = `${this.#shown(key)} ${how} between being listed and being read.`;
    return new LocalError('conflict', 'bucket-changed', message, { hint: 'Run it again.' });
  }

  #shown(key: string): string {
    return visible(cut(bucketAddressText({ ...this.address, prefix: key }), 300));
  }

  /**
   * Throws LocalError with only the name and status of an SDK error: its message may contain an access key, and it holds the request
   * headers.
   */
  #refuse(error: unknown, key: string, signal: AbortSignal | undefined, done = 'read'): never {
    if (error instanceof LocalError || signal?.aborted) throw error;
    const { name = '', $metadata: { httpStatusCode: status = 0 } = {}, code = '' } = error as Failure;
    if (/^(NoSuchKey|NotFound|PreconditionFailed)$/.test(name) || status === 412)
      throw this.#changed(key, status === 412 ? 'was changed' : 'was deleted');
    const shown = this.#shown(key);
    if (error instanceof ApiError) {
      // A proxy or certificate error; a restarted service may have another configuration.
      const message = `${shown} cannot be ${done}: ${error.message}.`;
      throw new LocalError('unavailable', 'bucket', message, present({ hint: error.hint }));
    }
    // The name says more than the status: an archived object is refused by 403.
    const named = refusals.find(each => each.names.test(`${name} ${code}`));
    const { kind, says, hint } =
      named ?? refusals.find(each => each.statuses?.includes(status)) ?? unexplained;
    // The profile may be fixed in the meantime, and the next request reads it again.
    if (kind === 'invalid') this.#opened = undefined;
    const about = [name, code, status === 0 ? '' : formatCount(status)].filter(each => each !== '');
    const words = [...new Set(about)].map(each => visible(cut(each, 60))).join(', ');
    throw new LocalError(kind, 'bucket', `${shown} cannot be ${done}: ${says} (${words}).`, { hint });
  }
}

type Version = Pick<GetObjectCommandOutput, 'ETag' | 'LastModified'>;

/** Returns what identifies a version of an object. Headers have times in seconds, listings in milliseconds. */
function versionOf({ ETag = '', LastModified }: Version): string {
  if (ETag !== '' || LastModified === undefined) return ETag;
  return new Date(Math.floor(LastModified.getTime() / 1000) * 1000).toISOString();
}

function isETag(version: string): boolean {
  return !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(version);
}

interface Opened {
  readonly client: S3Client;
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly atAws: boolean;
}

/** Loads the SDK and the agents on the first request, as they are large. */
async function open(bucket: string): Promise<Opened> {
  const [sdk, { agentsTo }] = await Promise.all([import('@aws-sdk/client-s3'), import('./bucket-agents.js')]);
  const common = {
    ...{ maxAttempts: mostAttempts, followRegionRedirects: true },
    // Other S3 servers do not support the checksums of newer clients.
    requestChecksumCalculation: 'WHEN_REQUIRED',
  } as const;
  const asked = new sdk.S3Client(common);
  const region = await asked.config.region().catch(() => 'us-east-1');
  const url = await addressOf(sdk, new sdk.S3Client({ ...common, region, forcePathStyle: true }), bucket);
  const atAws = isHostOfAws(url.hostname);
  const requestHandler = { ...timeLimits, ...agentsTo(url.href) };
  // Other S3 servers have no host per bucket.
  const client = new sdk.S3Client({ ...common, region, requestHandler, forcePathStyle: !atAws });
  return { client, sdk, atAws };
}

/** Returns the address of a request without sending it: the endpoint may come from the environment or the profile. */
async function addressOf(sdk: Opened['sdk'], client: S3Client, bucket: string): Promise<URL> {
  let address = new URL('https://amazonaws.com');
  client.middlewareStack.add(
    () => async (given: { request?: unknown }) => {
      const { protocol, hostname, port } = given.request as Address;
      address = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`);
      return { response: {}, output: { $metadata: {} } };
    },
    { step: 'build', priority: 'high' },
  );
  await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }));
  return address;
}

interface Address {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
}

function isHostOfAws(host: string): boolean {
  return /\.amazonaws\.(?:com|com\.cn|eu)$/.test(host);
}

const mostAttempts = 6;

/** In milliseconds. */
const timeLimits = { connectionTimeout: 5_000, requestTimeout: 60_000 };

interface Failure {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

interface Refusal {
  readonly kind: ConstructorParameters<typeof LocalError>[0];
  readonly says: string;
  readonly hint: string;
}

/** Errors of a bucket, by name and status. */
const refusals: readonly (Refusal & { readonly names: RegExp; readonly statuses?: readonly number[] })[] = [
  {
    names: /Credentials|SSOTokenProvider|TokenProviderError/,
    kind: 'invalid',
    says: 'no credentials found',
    hint: 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and restart the local service, which inherits the environment of the kernel that starts it.',
  },
  {
    names: /Expired|TokenRefresh/,
    kind: 'invalid',
    says: 'the credentials have expired',
    hint: 'Renew them, for example with `aws sso login`, and run the cell again.',
  },
  {
    names: /NoSuchBucket/,
    kind: 'invalid',
    says: 'the bucket does not exist',
    hint: 'Check its name; for your own server, set AWS_ENDPOINT_URL.',
  },
  {
    names:
      /AccessDenied|Forbidden|InvalidAccessKeyId|UserNotFound|SignatureDoesNotMatch|AllAccessDisabled|InvalidToken/,
    statuses: [401, 403],
    kind: 'invalid',
    says: 'access denied',
    hint: 'The credentials need s3:ListBucket on the bucket and s3:GetObject on its objects; to publish, also s3:PutObject.',
  },
  {
    names: /AuthorizationHeaderMalformed|PermanentRedirect/,
    kind: 'invalid',
    says: 'it is in another region',
    hint: 'Set AWS_REGION, or `region` in the profile, and restart the local service: stop it with `apl-kernel serve --stop`.',
  },
  {
    names: /SlowDown|Throttl|TooManyRequests|ServiceUnavailable/,
    statuses: [429, 503],
    kind: 'unavailable',
    says: `it was too busy ${mostAttempts} times in a row`,
    hint: 'Run the cell again in a minute, or over a narrower range.',
  },
  {
    names: /\b(?:CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/,
    kind: 'unavailable',
    says: 'the secure connection failed',
    hint: 'If its certificate is issued by your company or its proxy, set AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS to the file of the certificate authority and restart the local service: stop it with `apl-kernel serve --stop`.',
  },
  {
    names: /TimeoutError|ECONN|ENOTFOUND|EAI_AGAIN|EHOST|ENETUN|EPIPE|ETIMEDOUT/i,
    kind: 'unavailable',
    says: 'it did not respond',
    hint: 'Check the network and, for your own server, AWS_ENDPOINT_URL.',
  },
  {
    names: /InvalidObjectState/,
    kind: 'invalid',
    says: 'it is archived',
    hint: 'Restore the object first, or import another prefix.',
  },
];

const unexplained: Refusal = {
  kind: 'unavailable',
  says: 'the bucket refused the request',
  hint: 'Try it with `aws s3 ls`.',
};

function countAgain(
  meter: Meter,
  { $metadata: { attempts = 1 } }: { $metadata: { attempts?: number } },
): void {
  meter.repeated += attempts - 1;
}
