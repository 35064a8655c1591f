import { formatBytes, formatCount, plural } from '../../../../../text.js';

/** Counts requests to a bucket. */
export class Meter {
  lists = 0;
  gets = 0;
  bytes = 0;
  /** Number of retries because the bucket was busy or did not answer. */
  repeated = 0;
  /** Keys of objects that bytes were read from. */
  readonly objects = new Set<string>();
  /** Number of objects listed. */
  listed = 0;

  /** Summarizes the requests to `address`, with their price if `priced`, that is, at AWS. */
  text(address: string, priced: boolean): string {
    const { lists, gets, bytes } = this;
    const requests = plural(lists + gets, 'request');
    const again = this.repeated === 0 ? '' : `, ${formatCount(this.repeated)} of them retries`;
    const what =
      bytes === 0
        ? 'everything was already in the local cache'
        : `${formatBytes(bytes)} of ${plural(this.objects.size, 'object')}`;
    return `Read from ${address}: ${what}; ${plural(this.listed, 'object')} listed, ${requests}${again}${priced ? this.#price() : ''}.`;
  }

  #price(): string {
    const requests = (this.lists * listPrice + this.gets * getPrice) / 1000;
    const transfer = (this.bytes / 1e9) * transferPrice;
    const leaving = this.bytes === 0 ? '' : `, and ${dollars(transfer)} if the data leaves the cloud`;
    return `: about ${dollars(requests)}${leaving}`;
  }
}

/** US dollars per thousand requests and per gigabyte: list prices of S3 in its cheapest regions. */
const listPrice = 0.005;
const getPrice = 0.0004;
const transferPrice = 0.09;

function dollars(amount: number): string {
  return amount < 0.0001
    ? 'less than $0.0001'
    : `$${amount.toFixed(Math.max(2, -Math.floor(Math.log10(amount))))}`;
}
