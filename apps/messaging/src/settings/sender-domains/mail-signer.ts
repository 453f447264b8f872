import { Inject, Injectable } from '@nestjs/common';
import { dkimSign } from 'mailauth';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { SecretBox } from '../../vocabulary/secrets/secret-box.js';
import { placeOf } from './dkim-pairs.js';
import { signingKeys } from './domain-progress.js';
import type { VerifiedDomain } from './verified-senders.js';

/**
 * What a signature covers (RFC 6376 §5.4): all that a reader sees or a mailbox acts on, both headers of one-click
 * unsubscription among it (RFC 8058 §4). As often as each occurs: what is added on the way is not covered.
 */
const SIGNED_HEADERS = [
  'From',
  'Reply-To',
  'To',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Id',
  'Auto-Submitted',
  'X-Correlation-Id',
];
const REMEMBERED_KEYS = 1_000;

/** Signs mail by the keys of the domain it is from (RFC 6376, RFC 8463). */
@Injectable()
export class MailSigner {
  private readonly box: SecretBox;
  /** Private keys by their sealed text: opened once, not for each mail. */
  private readonly opened = new Map<string, string>();

  constructor(@Inject(MESSAGING_CONFIG) { keyring }: MessagingConfig) {
    this.box = new SecretBox(keyring);
  }

  /** The mail with its signatures. @throws UnreadableSecret; Error where a signature cannot be made */
  async sign(mail: Buffer, domain: VerifiedDomain, date: Date): Promise<Buffer> {
    const signatureData = signingKeys(domain).map(({ algorithm, pairSelector, selector, sealed }) => {
      if (sealed === null) throw new Error('the key that signs is gone');
      const privateKey = this.open(sealed, placeOf(domain, pairSelector, algorithm));
      return { signingDomain: domain.domain, selector, privateKey, algorithm: `${algorithm}-sha256` };
    });
    const { signatures, errors } = await dkimSign(mail, {
      canonicalization: 'relaxed/relaxed',
      headerList: SIGNED_HEADERS,
      signTime: date,
      signatureData,
    } as unknown as Parameters<typeof dkimSign>[1]);
    const [failed] = errors;
    if (failed) throw failed.err;
    return Buffer.concat([Buffer.from(signatures, 'latin1'), mail]);
  }

  private open(sealed: Parameters<SecretBox['open']>[0], place: string): string {
    const known = this.opened.get(sealed.sealed);
    if (known !== undefined) return known;
    const key = this.box.open(sealed, place);
    if (this.opened.size >= REMEMBERED_KEYS) this.opened.clear();
    this.opened.set(sealed.sealed, key);
    return key;
  }
}
