import { NetworkError, ProblemError } from '@customer-platform/client';
import { queryClient } from './query-client.ts';

const CALL = { method: 'GET', path: '/v1/core/contacts' };

/** How often something is asked for that always fails so. */
async function tries(error: Error): Promise<number> {
  let asked = 0;
  const queryFn = (): Promise<never> => {
    asked += 1;
    return Promise.reject(error);
  };
  const options = { queryKey: [error.name], queryFn, retryDelay: 0, retry: retryOf };
  await expect(queryClient.fetchQuery(options)).rejects.toBe(error);
  return asked;
}

const retryOf = queryClient.getDefaultOptions().queries?.retry;

afterEach(() => queryClient.clear());

describe('what fails', () => {
  it('was repeated by the client where that is worth it: it is asked for once', async () => {
    expect(await tries(new NetworkError(CALL, 'timeout'))).toBe(1);
    expect(await tries(new ProblemError(CALL, { status: 503, headers: new Headers(), text: '' }, 0))).toBe(1);
  });

  it('for another reason is asked for again', async () => {
    expect(await tries(new Error('of the page itself'))).toBe(4);
  });
});
