import { randomUUID } from 'node:crypto';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';

/** Founds an organization below that of the platform's administrator key. @returns the key of its owner */
export async function foundOrganization(parent: Platform): Promise<string> {
  const name = `load-${randomUUID()}`;
  const admin = await adminOf(parent);
  const body = { name, slug: name, issue_api_key: true };
  const { data } = await admin.POST('/v1/identity/organizations', { body });
  if (!data.api_key) throw new Error('An organization was founded without the key that was asked for.');
  return data.api_key.key;
}
