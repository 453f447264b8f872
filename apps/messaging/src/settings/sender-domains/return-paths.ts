import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { keyOf } from './dns-records.js';
import { returnHostOf } from './return-host.js';
import type { VerifiedDomain } from './verified-senders.js';

/** Of an organization's send. */
export interface ReturnedSend {
  readonly organizationId: string;
  readonly id: string;
}

/** So that other addresses of the host are told apart at once. */
const PREFIX = 'r';
const ID_BYTES = 16;
/** Whoever tries has one chance in 2⁶⁴ a mail. */
const SIGNATURE_BYTES = 8;
/** 40 bytes by digits and letters of one case: servers on the way change case, and a local part has 64 characters. */
const DIGITS = 62;
const LOCAL_PART = new RegExp(`^${PREFIX}[0-9a-z]{${String(DIGITS)}}$`);
const BYTES = 2 * ID_BYTES + SIGNATURE_BYTES;

/**
 * The addresses to which what cannot be delivered returns, one for each send (messaging.md §10): signed, for whoever
 * writes to one is believed.
 */
@Injectable()
export class ReturnPaths {
  private readonly key: Buffer;
  private readonly host: string | undefined;

  constructor(@Inject(MESSAGING_CONFIG) { keyring, returnHost }: MessagingConfig) {
    this.key = Buffer.from(hkdfSync('sha256', keyring.root, Buffer.alloc(0), 'messaging return paths', 32));
    this.host = returnHost;
  }

  /**
   * The envelope sender of a mail, at the sender domain's own name where its record is found, else at the platform's
   * where the server is the platform's; undefined: a mail server of the organization's would not take another.
   */
  of(
    send: ReturnedSend,
    { domain, byPlatform }: { domain: VerifiedDomain | undefined; byPlatform: boolean },
  ): string | undefined {
    if (this.host === undefined) return undefined;
    const own = domain && returnHostOf(domain.domain);
    const isPublished =
      own !== undefined && domain?.findings[keyOf({ purpose: 'return_path', name: own })]?.status === 'found';
    if (!isPublished && !byPlatform) return undefined;
    return `${this.localPartOf(send)}@${isPublished ? own : this.host}`;
  }

  /** The send that a local part names; undefined where it is not one of ours. */
  read(localPart: string): ReturnedSend | undefined {
    const text = localPart.toLowerCase();
    if (!LOCAL_PART.test(text)) return undefined;
    const bytes = bytesOf(text.slice(PREFIX.length));
    if (!bytes) return undefined;
    const ids = bytes.subarray(0, 2 * ID_BYTES);
    if (!timingSafeEqual(this.signatureOf(ids), bytes.subarray(2 * ID_BYTES))) return undefined;
    return { organizationId: uuidOf(ids.subarray(0, ID_BYTES)), id: uuidOf(ids.subarray(ID_BYTES)) };
  }

  private localPartOf({ organizationId, id }: ReturnedSend): string {
    const ids = Buffer.from(`${organizationId}${id}`.replaceAll('-', ''), 'hex');
    const signed = Buffer.concat([ids, this.signatureOf(ids)]);
    return (
      PREFIX +
      BigInt(`0x${signed.toString('hex')}`)
        .toString(36)
        .padStart(DIGITS, '0')
    );
  }

  private signatureOf(ids: Buffer): Buffer {
    return createHmac('sha256', this.key).update(ids).digest().subarray(0, SIGNATURE_BYTES);
  }
}

function bytesOf(digits: string): Buffer | undefined {
  let number = 0n;
  for (const digit of digits) number = number * 36n + BigInt(Number.parseInt(digit, 36));
  const hex = number.toString(16).padStart(2 * BYTES, '0');
  return hex.length === 2 * BYTES ? Buffer.from(hex, 'hex') : undefined;
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
