import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ApplicationPassport, CredentialStrategy, rawBodyOf } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { UnsubscribeLinks, type Subscription } from './unsubscribe-links.js';
import { readUnsubscribe, type UnsubscribeForm } from './unsubscribe-request.js';

/** A link that was signed here. */
export class SignedLink {
  /** @param subscription undefined where the query has no token that could be one, which the handler's query says better */
  constructor(
    readonly token: string,
    readonly form: UnsubscribeForm,
    readonly subscription?: Subscription,
  ) {}
}

/** Tokens of unsubscribe links (messaging.md §11), in the address or in what is posted. */
@Injectable()
export class SignedLinkStrategy extends CredentialStrategy('signed_link') {
  constructor(
    passport: ApplicationPassport,
    private readonly links: UnsubscribeLinks,
  ) {
    super(passport);
  }

  /**
   * @throws Problem `invalid_signature`; of what is posted `validation_failed`, `malformed_json`, `malformed_request`,
   *   `unsupported_media_type`
   */
  override async validate(request: IncomingMessage): Promise<SignedLink> {
    const [queryToken, ...others] = new URL(request.url ?? '/', 'http://link').searchParams.getAll('token');
    const asked = others.length === 0 ? queryToken : undefined;
    const { token, form } =
      request.method === 'POST'
        ? await readUnsubscribe(await rawBodyOf(request), request.headers['content-type'], asked)
        : { token: asked ?? '', form: 'page' as const };
    if (token === '') return new SignedLink(token, form);
    const subscription = this.links.read(token);
    if (!subscription) throw new Problem('invalid_signature', { detail: 'The link has been altered.' });
    return new SignedLink(token, form, subscription);
  }
}
