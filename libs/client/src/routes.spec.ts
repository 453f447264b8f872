import { createClient, type BodyOf, type DataOf, type ItemOf, type QueryOf } from './index.js';

/** True where the two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(value: T): void => expect(value).toBe(true);

type Contact = DataOf<'get', '/v1/core/contacts/{id}'>;
const api = createClient({
  baseUrl: 'http://127.0.0.1',
  retry: { attempts: 1 },
  fetch: () => Promise.reject(new Error('no network')),
});

// What is said here is held by the compiler: `npm run typecheck`.
describe('the types', () => {
  it('know what a route answers, takes and lists', () => {
    holds<Same<Contact['id'], string>>(true);
    holds<Same<DataOf<'delete', '/v1/core/contacts/{id}'>, undefined>>(true);
    holds<Same<ItemOf<'/v1/core/contacts'>['id'], string>>(true);
    holds<Same<ItemOf<'/v1/core/contacts'>, Contact>>(true);
    holds<'email' extends keyof BodyOf<'post', '/v1/core/contacts'> ? true : false>(true);
    holds<'last_name[prefix]' extends keyof QueryOf<'get', '/v1/core/contacts'> ? true : false>(true);
  });

  it('refuse what a route does not take', async () => {
    const calls = [
      // @ts-expect-error -- there is no such route
      () => api.GET('/v1/core/contact'),
      // @ts-expect-error -- the route has no such method
      () => api.PUT('/v1/core/contacts'),
      // @ts-expect-error -- a path parameter is missing
      () => api.GET('/v1/core/contacts/{id}'),
      // @ts-expect-error -- a body is missing
      () => api.POST('/v1/core/contacts'),
      // @ts-expect-error -- there is no such field
      () => api.POST('/v1/core/contacts', { body: { mail: 'ana@example.com' } }),
      // @ts-expect-error -- there is no such option
      () => api.GET('/v1/core/contacts', { ifmatch: '"1"' }),
      // @ts-expect-error -- not a list
      () => api.items('/v1/core/usage').next(),
    ];
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(Error);
  });

  it('ask for no `Idempotency-Key`, not even where the service does', async () => {
    const body = { kind: 'adjust' as const, contact_id: 'c', points: 1, reason: 'Goodwill', reference: 'r' };
    await expect(api.POST('/v1/loyalty/transactions', { body })).rejects.toBeInstanceOf(Error);
  });
});
