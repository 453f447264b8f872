import { cutEnds, isStorableText } from '@customer-platform/http';
import { isShortAddress } from '../vocabulary/is-email-address.js';

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,253}$/;

/** The fields of a form; one that was sent twice, or holds what no text may, is not there. */
export class SignInForm {
  private readonly fields: ReadonlyMap<string, string>;

  constructor(body: unknown) {
    const entries = typeof body === 'object' && body !== null ? Object.entries(body) : [];
    this.fields = new Map(
      entries.filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string' && isStorableText(entry[1]),
      ),
    );
  }

  get(name: string): string {
    return this.fields.get(name) ?? '';
  }

  /** An address as people type it, also one as it was taken before; undefined for what is none. */
  get email(): string | undefined {
    const email = cutEnds(this.get('email'));
    return EMAIL.test(email) && isShortAddress(email) ? email : undefined;
  }
}
