import { jsonItems } from './json/sets.js';

/**
 * Series functions that need neighboring elements or earlier results, over the text of JSON arrays. Each returns JSON text, or null if an
 * argument has another type. Elements that are not numbers count as missing.
 */

/** Returns the array with every missing element replaced by the previous one; missing ones at the start take the first value. */
export function fillForward(text: string): string | null {
  const items = jsonItems(text);
  return items === undefined ? null : `[${filled(items).join(',')}]`;
}

/** Returns the array with every missing element replaced by the next one; missing ones at the end take the last value. */
export function fillBackward(text: string): string | null {
  const items = jsonItems(text)?.reverse();
  return items === undefined ? null : `[${filled(items).reverse().join(',')}]`;
}

/** Returns the array with missing elements interpolated linearly between their neighbors; at the ends they take the nearest value. */
export function fillLinear(text: string): string | null {
  const items = jsonItems(text);
  if (items === undefined) return null;
  const known = items.flatMap((item, place) => (isNumber(item) ? [place] : []));
  const first = known[0];
  if (first === undefined) return text;
  const result = items.map((item, place) => (place < first ? (items[first] ?? item) : item));
  for (const [index, left] of known.entries()) {
    const right = known[index + 1];
    const low = items[left] ?? 'null';
    if (right === undefined) result.fill(low, left);
    else interpolate(result, left, right);
  }
  return `[${result.join(',')}]`;
}

/**
 * Returns the array filtered by a kernel over each element and those before it. A kernel without negative weights averages: the weighted
 * sum is divided by the sum of the weights applied to values, also at the start. Any other kernel gives the plain sum.
 */
export function fir(text: string, kernelText: string): string | null {
  const values = numbers(text);
  const kernel = numbers(kernelText)?.map(weight => weight ?? 0);
  if (values === undefined || kernel === undefined || kernel.length === 0) return null;
  const averages = kernel.every(weight => weight >= 0);
  return json(values.map((_, place) => filteredAt(values, kernel, place, averages)));
}

/** Returns the array filtered by numerator and denominator coefficients; null if a value is missing or the first denominator is 0. */
export function iir(text: string, numeratorText: string, denominatorText: string): string | null {
  const x = complete(text);
  const b = complete(numeratorText);
  const a = complete(denominatorText);
  const scale = a?.[0];
  if (x === undefined || b === undefined || a === undefined || scale === undefined || scale === 0)
    return null;
  const y: number[] = [];
  for (let place = 0; place < x.length; place++) {
    const forward = taps(b, x, place, 0);
    y.push((forward - taps(a, y, place, 1)) / scale);
  }
  return json(y);
}

/** Returns the Fourier transform of a complex series as `[[real], [imaginary]]`; null if the parts differ in length. */
export function fft(realText: string, imaginaryText: string): string | null {
  return transformed(realText, imaginaryText, (re, im) => dft(re, im));
}

/** Returns the inverse Fourier transform of a complex series as `[[real], [imaginary]]`; null if the parts differ in length. */
export function ifft(realText: string, imaginaryText: string): string | null {
  return transformed(realText, imaginaryText, (re, im) => {
    // The inverse is the transform with real and imaginary parts exchanged, divided by the length.
    const [outIm, outRe] = dft(im, re);
    return [outRe.map(value => value / re.length), outIm.map(value => value / re.length)];
  });
}

// ---- reading and writing ----

function isNumber(item: string): boolean {
  return /^[-\d]/.test(item);
}

function numbers(text: string): (number | null)[] | undefined {
  return jsonItems(text)?.map(item => (isNumber(item) ? Number(item) : null));
}

function complete(text: string): number[] | undefined {
  const values = numbers(text);
  return values?.every(value => value !== null) ? values : undefined;
}

function json(values: readonly (number | null)[]): string {
  return JSON.stringify(values);
}

// ---- filling ----

function filled(items: readonly string[]): string[] {
  let last = items.find(isNumber) ?? 'null';
  return items.map(item => {
    if (isNumber(item)) last = item;
    return last;
  });
}

function interpolate(result: string[], left: number, right: number): void {
  const low = Number(result[left]);
  const step = (Number(result[right]) - low) / (right - left);
  for (let place = left + 1; place < right; place++)
    result[place] = JSON.stringify(low + step * (place - left));
}

// ---- filters ----

function filteredAt(
  values: readonly (number | null)[],
  kernel: readonly number[],
  place: number,
  averages: boolean,
): number | null {
  let sum = 0;
  let weights = 0;
  for (let back = 0; back < kernel.length && back <= place; back++) {
    const value = values[place - back] ?? null;
    if (value === null) continue;
    sum += (kernel[back] ?? 0) * value;
    weights += kernel[back] ?? 0;
  }
  if (!averages) return sum;
  return weights === 0 ? null : sum / weights;
}

/** Returns the weighted sum of a series up to a position, starting at coefficient `from`. */
function taps(
  coefficients: readonly number[],
  series: readonly number[],
  place: number,
  from: number,
): number {
  let sum = 0;
  for (let back = from; back < coefficients.length && back <= place; back++) {
    sum += (coefficients[back] ?? 0) * (series[place - back] ?? 0);
  }
  return sum;
}

// ---- Fourier ----

type Complex = readonly [re: number[], im: number[]];

function transformed(
  realText: string,
  imaginaryText: string,
  transform: (re: number[], im: number[]) => Complex,
): string | null {
  const re = complete(realText);
  const given = complete(imaginaryText);
  if (re === undefined || given === undefined) return null;
  const im = given.length === 0 ? re.map(() => 0) : given;
  if (im.length !== re.length) return null;
  return JSON.stringify(re.length === 0 ? [[], []] : transform(re, im));
}

function dft(re: readonly number[], im: readonly number[]): Complex {
  const isPower = (re.length & (re.length - 1)) === 0;
  return isPower ? powerOfTwo([...re], [...im]) : chirp(re, im);
}

/** Cooley-Tukey transform in place; the length is a power of two. */
function powerOfTwo(re: number[], im: number[]): Complex {
  reverseBits(re, im);
  for (let size = 2; size <= re.length; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / size;
      // A quarter turn is exact, which keeps the transform of a few integers exact.
      const cos = 4 * k === size ? 0 : Math.cos(angle);
      const sin = Math.sin(angle);
      for (let a = k; a < re.length; a += size) butterfly(re, im, a, a + half, cos, sin);
    }
  }
  return [re, im];
}

function butterfly(re: number[], im: number[], a: number, b: number, cos: number, sin: number): void {
  const [aRe = 0, aIm = 0, bRe = 0, bIm = 0] = [re[a], im[a], re[b], im[b]];
  const oddRe = bRe * cos - bIm * sin;
  const oddIm = bRe * sin + bIm * cos;
  re[a] = aRe + oddRe;
  im[a] = aIm + oddIm;
  re[b] = aRe - oddRe;
  im[b] = aIm - oddIm;
}

function reverseBits(re: number[], im: number[]): void {
  for (let i = 1, j = 0; i < re.length; i++) {
    let bit = re.length >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      for (const part of [re, im]) [part[i], part[j]] = [part[j] ?? 0, part[i] ?? 0];
    }
  }
}

/** Bluestein's transform of any length, as a convolution of a power of two. */
function chirp(re: readonly number[], im: readonly number[]): Complex {
  const n = re.length;
  let size = 1;
  while (size < 2 * n) size *= 2;
  // The square is reduced modulo 2n: large angles would lose precision.
  const angles = re.map((_, i) => (Math.PI * ((i * i) % (2 * n))) / n);
  const cos = angles.map(Math.cos);
  const sin = angles.map(Math.sin);
  const wave = (values: readonly number[]) =>
    Array.from({ length: size }, (_, i) => values[Math.min(i, size - i)] ?? 0);
  const inputRe = Array.from(
    { length: size },
    (_, i) => (re[i] ?? 0) * (cos[i] ?? 0) + (im[i] ?? 0) * (sin[i] ?? 0),
  );
  const inputIm = Array.from(
    { length: size },
    (_, i) => (im[i] ?? 0) * (cos[i] ?? 0) - (re[i] ?? 0) * (sin[i] ?? 0),
  );
  const [outRe, outIm] = convolve([inputRe, inputIm], [wave(cos), wave(sin)]);
  const turn = (i: number, a: readonly number[], b: readonly number[], sign: number) =>
    (a[i] ?? 0) * (cos[i] ?? 0) + sign * (b[i] ?? 0) * (sin[i] ?? 0);
  return [re.map((_, i) => turn(i, outRe, outIm, 1)), re.map((_, i) => turn(i, outIm, outRe, -1))];
}

/** Returns the circular convolution of two series whose length is a power of two. */
function convolve(left: Complex, right: Complex): Complex {
  const [aRe, aIm] = powerOfTwo(left[0], left[1]);
  const [bRe, bIm] = powerOfTwo(right[0], right[1]);
  const re = aRe.map((value, i) => value * (bRe[i] ?? 0) - (aIm[i] ?? 0) * (bIm[i] ?? 0));
  const im = aRe.map((value, i) => value * (bIm[i] ?? 0) + (aIm[i] ?? 0) * (bRe[i] ?? 0));
  const [outIm, outRe] = powerOfTwo(im, re);
  return [outRe.map(value => value / re.length), outIm.map(value => value / re.length)];
}
