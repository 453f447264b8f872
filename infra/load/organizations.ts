import { randomUUID } from 'node:crypto';
import { request, type Platform } from '@customer-platform/kit/platform.ts';

/** Founds an organization below that of the platform's administrator key. @returns the key of its owner */
export async function foundOrganization(parent: Platform): Promise<string> {
  const name = `load-${randomUUID()}`;
  const body = { name, slug: name, issue_api_key: true };
  const answer = await request(parent, 'POST', '/v1/identity/organizations', body);
  return (answer.body as { api_key: { key: string } }).api_key.key;
}
