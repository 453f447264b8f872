import { isUtf8 } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GrowingBuffer } from '@customer-platform/config';
import { Problem } from '@customer-platform/problem-json';
import { inspectJson } from '../json/inspect-json.js';
import { countJsonValues } from '../json/count-values.js';
import { yieldLoop } from './event-loop.js';
import type { BodyForm } from '../endpoints/route-declaration.js';

const AMPERSAND = 0x26;

/** What a route allows of a body. */
interface BodyRule {
  readonly body: BodyForm;
  readonly bodyLimit: number;
  readonly gzip: boolean;
}

/** The caller closed the connection before the answer; there is nobody to answer. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** Whether a request announces a body at all. */
export function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The bytes of a body, inflated if the route takes gzip and the caller used it.
 * @throws `body_too_large` as soon as the limit is passed, counted after inflating; `unsupported_media_type` on
 * another encoding; `malformed_request` on broken gzip; {@link RequestAborted}.
 */
export async function readBytes(request: IncomingMessage, rule: BodyRule): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const gzipped = encoding === 'gzip' || encoding === 'x-gzip';
  if (!gzipped && encoding !== 'identity') throw encodingRefused(rule.gzip);
  if (gzipped && !rule.gzip) throw encodingRefused(false);
  if (Number(request.headers['content-length'] ?? 0) > rule.bodyLimit) throw tooLarge(rule.bodyLimit);
  return gzipped ? inflate(request, rule.bodyLimit) : collect(request, rule.bodyLimit);
}

/**
 * How many values a JSON body may hold. A megabyte of empty lists is a third of a million, which takes longer to read
 * than other requests shall wait (measured: 95 ms); what the API takes in one body is a few thousand.
 */
const MAX_JSON_VALUES = 50_000;

/** How many fields a form may have; Twilio, which sends the longest ones, uses about 30. */
const MAX_FORM_FIELDS = 1_000;

/** A body with more values than this is read in steps, between which other requests run. */
const STEPS_FROM_VALUES = 2_000;

/** Parses JSON and refuses what no body may contain. For short bodies: it holds the loop until it is done. */
export function parseJsonBytes(bytes: Buffer): unknown {
  const values = countJsonValues(bytes);
  refuseTooManyValues(values);
  const { text, value } = parse(bytes);
  refuseForbidden(text, value, values);
  return value;
}

/** Parses JSON and refuses what no body may contain; a large body in steps. */
export async function readJson(bytes: Buffer): Promise<unknown> {
  const values = countJsonValues(bytes);
  refuseTooManyValues(values);
  const isLarge = values > STEPS_FROM_VALUES;
  const { text, value } = parse(bytes);
  if (isLarge) await yieldLoop();
  refuseForbidden(text, value, values);
  if (isLarge) await yieldLoop();
  return value;
}

function refuseTooManyValues(values: number): void {
  if (values <= MAX_JSON_VALUES) return;
  const detail = `The body holds more than ${MAX_JSON_VALUES} values.`;
  throw Problem.validation([{ pointer: '', code: 'too_long', detail }]);
}

function parse(bytes: Buffer): { text: string; value: unknown } {
  if (!isUtf8(bytes)) throw new Problem('malformed_json', { detail: 'The body is not UTF-8.' });
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw new Problem('malformed_json', { detail: `The body is not JSON${placeOf(error)}.` });
  }
}

function refuseForbidden(text: string | undefined, value: unknown, values: number): void {
  const errors = inspectJson(value, text, { values });
  if (errors.total > 0) throw Problem.validation(errors);
}

/**
 * The fields of a form in the order sent, repeated names kept.
 * @throws `malformed_request` on what is not UTF-8, `validation_failed` on more than 1,000 fields
 */
export function formFields(bytes: Buffer): [name: string, value: string][] {
  if (!isUtf8(bytes)) throw new Problem('malformed_request', { detail: 'The form is not UTF-8.' });
  if (hasMoreFields(bytes, MAX_FORM_FIELDS)) {
    const detail = `The form has more than ${MAX_FORM_FIELDS} fields.`;
    throw Problem.validation([{ pointer: '', code: 'too_long', detail }]);
  }
  return [...new URLSearchParams(bytes.toString('utf8'))];
}

function hasMoreFields(bytes: Buffer, most: number): boolean {
  let fields = 1;
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    fields += 1;
    if (fields > most) return true;
  }
  return false;
}

/** Parses a form; of a repeated name the values are a list. */
export function parseForm(bytes: Buffer): Record<string, unknown> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of formFields(bytes)) {
    const former = values.get(name);
    if (former === undefined) values.set(name, value);
    else if (typeof former === 'string') values.set(name, [former, value]);
    else former.push(value);
  }
  const form = Object.fromEntries(values);
  refuseForbidden(undefined, form, values.size);
  return form;
}

/**
 * The kind of a body by its content type.
 * @throws `unsupported_media_type` naming what the route takes.
 */
export function bodyKind(request: IncomingMessage, body: 'json' | 'form' | 'json|form'): 'json' | 'form' {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((part) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(part)?.[1]).find(Boolean);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new Problem('unsupported_media_type', { detail: 'Bodies are UTF-8.' });
  }
  const name = type.trim();
  const isJson = name === 'application/json' || /^application\/[\w.-]+\+json$/.test(name);
  if (isJson && body !== 'form') return 'json';
  if (name === 'application/x-www-form-urlencoded' && body !== 'json') return 'form';
  const taken = { json: 'application/json', form: 'application/x-www-form-urlencoded' };
  const offer = body === 'json|form' ? `${taken.json} or ${taken.form}` : taken[body];
  throw new Problem('unsupported_media_type', { detail: `This route takes ${offer}.` });
}

/** What bodies that are on their way may take of a process together, in bytes. */
const ROOM = 64 << 20;

/** A body that is on its way. */
interface Coming {
  readonly body: GrowingBuffer;
  readonly giveWay: () => void;
}

/** The bodies that are on their way, the eldest first, and what they take. */
const coming = new Set<Coming>();
let taken = 0;

/** Adds to a body; where all together take too much, the eldest gives way: what is sent at once is here before. */
function add(one: Coming, chunk: Buffer): void {
  const before = one.body.capacity;
  one.body.add(chunk);
  taken += one.body.capacity - before;
  for (const eldest of coming) {
    if (taken <= ROOM) return;
    leave(eldest);
    eldest.giveWay();
  }
}

function leave(one: Coming): void {
  if (coming.delete(one)) taken -= one.body.capacity;
}

function collect(source: Readable, limit: number): Promise<Buffer> {
  return new Promise((resolve, refuse) => {
    const body = new GrowingBuffer();
    const reject = (error: Error): void => {
      source.off('data', take);
      leave(one);
      refuse(error);
    };
    const one: Coming = { body, giveWay: () => reject(new Problem('request_timeout')) };
    const take = (chunk: Buffer): void => {
      if (body.length + chunk.length <= limit) add(one, chunk);
      else reject(tooLarge(limit)); // what still arrives is dropped by the server after the answer
    };
    coming.add(one);
    source.on('data', take);
    source.once('end', () => {
      leave(one);
      resolve(body.bytes());
    });
    source.once('error', (error) => reject(isAborted(source, error) ? gone() : error));
    source.once('close', () => {
      // Every request closes; an error takes a stack, which only a body without an end is worth.
      if (!source.readableEnded) reject(gone());
    });
    // Nobody tells again that a caller has gone already.
    if (source.destroyed && !source.readableEnded) reject(gone());
  });
}

/** Node tells of a caller that broke off as an error of the request. */
function isAborted(source: Readable, error: Error): boolean {
  return source instanceof IncomingMessage && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
}

function gone(): RequestAborted {
  return new RequestAborted('The caller closed the connection');
}

async function inflate(request: IncomingMessage, limit: number): Promise<Buffer> {
  const gunzip = createGunzip();
  const left = new Promise<never>((_, reject) => {
    const abandon = (): void => {
      if (!request.complete) reject(gone());
    };
    request.once('error', (error) => reject(isAborted(request, error) ? gone() : error));
    request.once('close', abandon);
    if (request.destroyed) abandon();
  });
  request.pipe(gunzip);
  try {
    return await Promise.race([collect(gunzip, limit), left]);
  } catch (error) {
    if (error instanceof Problem || error instanceof RequestAborted) throw error;
    throw new Problem('malformed_request', { detail: 'The body is not gzip.', cause: error });
  } finally {
    request.unpipe(gunzip);
    request.resume();
    gunzip.destroy();
  }
}

function tooLarge(limit: number): Problem {
  const size = limit >= 1024 * 1024 ? `${limit / 1024 / 1024} MiB` : `${limit / 1024} KiB`;
  return new Problem('body_too_large', { detail: `The body is larger than ${size}.` });
}

function encodingRefused(gzip: boolean): Problem {
  const offer = gzip ? 'identity or gzip' : 'no content encoding';
  return new Problem('unsupported_media_type', {
    detail: `This route takes ${offer}.`,
    headers: { 'Accept-Encoding': gzip ? 'gzip, identity' : 'identity' },
  });
}

/** Where parsing stopped, without repeating what was sent. */
function placeOf(error: unknown): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : `: it breaks at character ${position}`;
}
