import { fairShares } from './fair-shares.js';

describe('fairShares', () => {
  it('gives a neighbour on the same transport as many places as the one with the backlog', () => {
    const groups = [
      { transport: 'platform', most: 24 },
      { transport: 'platform', most: 24 },
      { transport: 'own', most: 24 },
      { transport: undefined, most: 24 },
    ];
    expect(fairShares(groups, (transport) => (transport === 'own' ? 3 : 9))).toEqual([5, 4, 3, 24]);
  });

  it('leaves to others what one does not take', () => {
    const groups = [
      { transport: 'platform', most: 2 },
      { transport: 'platform', most: 48 },
    ];
    expect(fairShares(groups, () => 20)).toEqual([2, 18]);
    expect(fairShares(groups, () => 0)).toEqual([0, 0]);
  });
});
