import type { IncomingMessage } from 'node:http';
import { etagOf } from './etag.js';

/** What a resource of the common administrative form is answered with: `updated_at` grows with every change of it. */
interface Resource {
  readonly id: string;
  readonly updated_at: string;
}

/**
 * An answer with its own status or headers, returned by a handler where the body alone does not say enough:
 * `Location`, `ETag`, another success status, a redirect.
 */
export class Answer<T = unknown> {
  constructor(
    readonly body: T,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status?: number,
  ) {}

  /** A created resource with the path it is at. */
  static created<T>(body: T, location: string, headers: Readonly<Record<string, string>> = {}): Answer<T> {
    return new Answer(body, { ...headers, Location: location }, 201);
  }

  /** Sends the caller elsewhere, by default for this once and with the same method. */
  static redirect(location: string, status: 302 | 303 | 307 = 307): Answer<undefined> {
    return new Answer(undefined, { Location: location }, status);
  }

  /**
   * Sends the caller to whom a contact was merged into, with the search of the request where one is given. A merge can be
   * undone: nobody may remember where it led.
   */
  static atSurvivor(path: string, { url = '' }: Pick<IncomingMessage, 'url'> = {}): Answer<undefined> {
    const from = url.indexOf('?');
    const search = from === -1 ? '' : url.slice(from);
    return new Answer(undefined, { Location: `${path}${search}`, 'Cache-Control': 'no-store' }, 307);
  }

  /** A resource as it is now, with the tag of its version. */
  static resource<T extends Resource>(body: T): Answer<T> {
    return Answer.tagged(body, etagOf(body.updated_at));
  }

  /** A new resource, with the tag of its version and its path below that of its kind: `/v1/crm/notes`. */
  static newResource<T extends Resource>(body: T, kind: string): Answer<T> {
    return Answer.created(body, `${kind}/${body.id}`, { ETag: etagOf(body.updated_at) });
  }

  /** A body with the version tag of the resource. */
  static tagged<T>(body: T, etag: string): Answer<T> {
    return new Answer(body, { ETag: etag });
  }
}
