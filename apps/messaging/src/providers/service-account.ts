import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';

/** RS256 is made with no shorter key (RFC 7518 §3.3). */
const LEAST_BITS = 2_048;

const shape = z.object({
  type: z.literal('service_account'),
  project_id: z.string().regex(/^[a-z][a-z0-9-]{4,61}[a-z0-9]$/),
  client_email: z.email(),
  private_key_id: z.string().max(200).optional(),
  private_key: z.string().refine(isPrivateKey),
});

/** The key of a service account, as Google gives it in a file. */
export type ServiceAccount = z.output<typeof shape>;

/** The secret of a setting that is such a file. */
export const serviceAccount = z
  .string()
  .max(10_000)
  .refine((text) => readServiceAccount(text) !== undefined, 'Expected the JSON file of a service account');

/** Reads the file; undefined when it is none. Nothing but an RSA key signs for Google. */
export function readServiceAccount(text: string): ServiceAccount | undefined {
  try {
    return shape.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isPrivateKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_BITS;
  } catch {
    return false;
  }
}
