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

  /** A body with the version tag of the resource. */
  static tagged<T>(body: T, etag: string): Answer<T> {
    return new Answer(body, { ETag: etag });
  }
}
