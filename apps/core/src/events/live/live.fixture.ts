import { jest } from '@jest/globals';
import { AUTHENTICATOR, type Authenticator } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { TestApp } from '@customer-platform/testing';

/**
 * A process that stands still for most of a second cannot know who may listen, and ends its streams: their readers come
 * back. The readers of these tests do not; a busy machine is no outage to them.
 */
export function endOnlyByOutages({ app, registry }: TestApp): void {
  const authenticator = app.get<Authenticator>(AUTHENTICATOR, { strict: false });
  const authenticate = authenticator.authenticate.bind(authenticator);
  jest.spyOn(authenticator, 'authenticate').mockImplementation(async (...credential) => {
    for (;;) {
      try {
        return await authenticate(...credential);
      } catch (error) {
        const unknown = error instanceof Problem && error.code === 'authorization_unavailable';
        if (!unknown || registry.isDown) throw error;
      }
    }
  });
}
