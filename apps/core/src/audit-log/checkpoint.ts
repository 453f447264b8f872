import { CompactSign, compactVerify } from 'jose';
import canonicalize from 'canonicalize';
import { SIGNING_ALGORITHM, type SigningKey } from '@customer-platform/database';
import type { RecordTopicName } from '@customer-platform/events';
import type { ChainHead } from './audit-chain.js';

/** The topic on which checkpoints are kept for ever, outside the database. Key: the organization. */
export const CHECKPOINT_TOPIC = 'audit.checkpoints' satisfies RecordTopicName;

/** A signed statement that an organization's chain had this hash at this row. */
export interface Checkpoint {
  readonly organization_id: string;
  readonly seq: number;
  /** Lower-case hex. */
  readonly hash: string;
  readonly kid: string;
  /** A compact JWS (RFC 7515, ES256) over the canonical JSON of organization, seq and hash. */
  readonly signature: string;
}

const TYPE = 'audit-checkpoint';

/** Signs where a chain is. */
export async function signCheckpoint(
  key: SigningKey,
  organizationId: string,
  head: ChainHead,
): Promise<Checkpoint> {
  const hash = head.hash.toString('hex');
  const signature = await new CompactSign(statementOf(organizationId, head.seq, hash))
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: key.kid, typ: TYPE })
    .sign(key.privateKey);
  return { organization_id: organizationId, seq: head.seq, hash, kid: key.kid, signature };
}

/** Whether this key has signed exactly what the checkpoint says. */
export async function isGenuine(key: SigningKey, checkpoint: Checkpoint): Promise<boolean> {
  const { organization_id: organizationId, seq, hash, signature } = checkpoint;
  try {
    const { payload, protectedHeader } = await compactVerify(signature, key.publicKey, {
      algorithms: [SIGNING_ALGORITHM],
    });
    const stated = Buffer.from(statementOf(organizationId, seq, hash));
    return protectedHeader.typ === TYPE && stated.equals(payload);
  } catch {
    return false; // whatever the library says of a signature that is none, it is no signature of ours
  }
}

function statementOf(organizationId: string, seq: number, hash: string): Uint8Array {
  return Buffer.from(canonicalize({ organization_id: organizationId, seq, hash }) ?? '');
}
