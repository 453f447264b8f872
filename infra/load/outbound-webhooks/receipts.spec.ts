import { Receipts } from './receipts.ts';

const receipt = (endpoint: number, person: string, webhookId: string, milliseconds = 10) => ({
  endpoint,
  person,
  webhookId,
  milliseconds,
});

describe('Receipts', () => {
  const expected = new Map([
    [0, ['ana', 'bea']],
    [1, ['ana', 'bea']],
  ]);

  it('tell what is whole', () => {
    const receipts = new Receipts();
    for (const endpoint of [0, 1])
      for (const person of ['ana', 'bea']) receipts.note(receipt(endpoint, person, person));
    expect(receipts.complete([0, 1], ['ana', 'bea'])).toBe(true);
    expect(receipts.account(expected)).toEqual({
      expected: 4,
      lost: 0,
      doubled: 0,
      repeated: 0,
      foreign: 0,
    });
  });

  it('tell what was lost, told under two ids, told again, and told to somebody else', () => {
    const receipts = new Receipts();
    receipts.note(receipt(0, 'ana', 'one'));
    receipts.note(receipt(0, 'ana', 'one'));
    receipts.note(receipt(1, 'ana', 'one'));
    receipts.note(receipt(1, 'ana', 'another'));
    receipts.note(receipt(1, 'eva', 'hers'));
    expect(receipts.complete([0, 1], ['ana'])).toBe(true);
    expect(receipts.complete([0, 1], ['ana', 'bea'])).toBe(false);
    expect(receipts.account(expected)).toEqual({
      expected: 4,
      lost: 2,
      doubled: 1,
      repeated: 1,
      foreign: 1,
    });
  });

  it('time what comes first, of whom is asked for, shortest first', () => {
    const receipts = new Receipts();
    receipts.note(receipt(0, 'ana', 'one', 30));
    receipts.note(receipt(0, 'ana', 'one', 5));
    receipts.note(receipt(0, 'bea', 'two', 20));
    receipts.note(receipt(1, 'ana', 'one', 1));
    expect(receipts.latencies(({ endpoint }) => endpoint === 0)).toEqual([20, 30]);
  });
});
