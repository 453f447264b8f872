import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { consoleConfig, encryptionConfig, readConfig } from '@customer-platform/config';

/** Which token of which invitation. */
export interface TokenOfInvitation {
  readonly organizationId: string;
  readonly id: string;
  /** Counted on by every resend: the tokens before are dead. */
  readonly generation: number;
}

const PREFIX = 'inv_';
const UUID_BYTES = 16;
const NAMED_BYTES = 2 * UUID_BYTES + 4;
const MAC_BYTES = 32;
/** Base64url of what is named and its HMAC. */
const FORM = /^inv_[A-Za-z0-9_-]{91}$/;

/**
 * Tokens of invitations (identity.md §3): an HMAC of id and generation, computed when a mail is rendered and when
 * somebody comes with one. None is stored, so none can be read from a database, a log or a topic.
 */
@Injectable()
export class InvitationTokens {
  private readonly key = Buffer.from(
    hkdfSync(
      'sha256',
      readConfig(encryptionConfig).ENCRYPTION_KEY,
      Buffer.alloc(0),
      'identity invitation tokens',
      MAC_BYTES,
    ),
  );

  tokenOf(invitation: TokenOfInvitation): string {
    const named = bytesOf(invitation);
    return PREFIX + Buffer.concat([named, this.mac(named)]).toString('base64url');
  }

  /** What the link in the mail opens. In the fragment, which no server and no log of one is told. */
  linkOf(invitation: TokenOfInvitation): string {
    const { CONSOLE_URL, PUBLIC_URL } = readConfig(consoleConfig);
    return `${CONSOLE_URL ?? PUBLIC_URL}/invitations/accept#token=${this.tokenOf(invitation)}`;
  }

  /** Which token this is; undefined for one that was not made here, or was altered. */
  read(token: string): TokenOfInvitation | undefined {
    if (!FORM.test(token)) return undefined;
    const bytes = Buffer.from(token.slice(PREFIX.length), 'base64url');
    const named = {
      organizationId: uuidAt(bytes, 0),
      id: uuidAt(bytes, UUID_BYTES),
      generation: bytes.readUInt32BE(2 * UUID_BYTES),
    };
    // The texts are compared, not their bytes: base64 has more than one text for some bytes.
    return timingSafeEqual(Buffer.from(token), Buffer.from(this.tokenOf(named))) ? named : undefined;
  }

  private mac(named: Buffer): Buffer {
    return createHmac('sha256', this.key).update(named).digest();
  }
}

function bytesOf({ organizationId, id, generation }: TokenOfInvitation): Buffer {
  const bytes = Buffer.alloc(NAMED_BYTES);
  bytes.write(organizationId.replaceAll('-', ''), 0, 'hex');
  bytes.write(id.replaceAll('-', ''), UUID_BYTES, 'hex');
  bytes.writeUInt32BE(generation, 2 * UUID_BYTES);
  return bytes;
}

function uuidAt(bytes: Buffer, from: number): string {
  const hex = bytes.toString('hex', from, from + UUID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
