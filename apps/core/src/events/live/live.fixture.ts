import { jest } from '@jest/globals';
import { ApiCredentialStrategy } from '@customer-platform/authorization';
import { Problem } from '@customer-platform/problem-json';
import type { TestApp } from '@customer-platform/testing';

/**
 * A process that stands still for most of a second cannot know who may listen, and ends its streams: their readers come
 * back. The readers of these tests do not; a busy machine is no outage to them.
 */
export function endOnlyByOutages({ app, registry }: TestApp): void {
  const credentials = app.get(ApiCredentialStrategy, { strict: false });
  const validate = credentials.validate.bind(credentials);
  jest.spyOn(credentials, 'validate').mockImplementation(async (...credential) => {
    for (;;) {
      try {
        return await validate(...credential);
      } catch (error) {
        const unknown = error instanceof Problem && error.code === 'authorization_unavailable';
        if (!unknown || registry.isDown) throw error;
      }
    }
  });
}
