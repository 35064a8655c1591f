import { formatBytes, formatCount, plural } from '../../../../../text.js';

/** Counts what is asked of a bucket. */
export class Meter {
  lists = 0;
  gets = 0;
  bytes = 0;
  /** Requests that were sent again, as the bucket was too busy or did not answer. */
  repeated = 0;
  /** The objects that bytes were read of. */
  readonly objects = new Set<string>();
  /** The objects that were listed. */
  listed = 0;

  /** Says what was asked of `address`; `priced` if it is at AWS. */
  text(address: string, priced: boolean): string {
    const { lists, gets, bytes } = this;
    const requests = plural(lists + gets, 'request');
    const again = this.repeated === 0 ? '' : `, ${formatCount(this.repeated)} of them sent again`;
    const what =
      bytes === 0
        ? 'all that was needed was here already'
        : `${formatBytes(bytes)} of ${plural(this.objects.size, 'object')}`;
    return `Read from ${address}: ${what}; ${plural(this.listed, 'object')} listed, ${requests}${again}${priced ? this.#price() : ''}.`;
  }

  #price(): string {
    const requests = (this.lists * listPrice + this.gets * getPrice) / 1000;
    const transfer = (this.bytes / 1e9) * transferPrice;
    const leaving = this.bytes === 0 ? '' : `, and ${dollars(transfer)} if the bytes leave the cloud`;
    return `: about ${dollars(requests)}${leaving}`;
  }
}

/** Dollars for a thousand requests and a gigabyte: the list prices of S3 in its cheapest regions. */
const listPrice = 0.005;
const getPrice = 0.0004;
const transferPrice = 0.09;

function dollars(amount: number): string {
  return amount < 0.0001
    ? 'less than $0.0001'
    : `$${amount.toFixed(Math.max(2, -Math.floor(Math.log10(amount))))}`;
}
