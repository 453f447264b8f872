import { deliveryFault } from './delivery-fault.js';

describe('who is at fault', () => {
  it.each([
    // The status of the report, where nothing else tells.
    ['5.1.1', ''],
    ['5.1.0', ''],
    ['5.1.10 (takes no mail)', ''],
    ['5.1.351', ''],
    ['5.1.6', 'smtp; 551 not here any more'],
    // The words, where the status is a class.
    ['5.0.0', 'smtp; 550 5.1.1 <ines@example.com>: gone'],
    ['', 'smtp; 550-5.1.1 gone\n550 5.1.1 for good'],
    ['5.0.0', 'smtp; 550 Unknown user ines@example.com'],
    ['5.0.0', 'smtp; 554 The account <ines@example.com> does not exist here'],
    ['5.3.0', 'smtp; 553 sorry, no mailbox here by that name'],
    ['5.0.0', 'The e-mail account that you write to does not exist.'],
    ['5.5.0', 'smtp; 550 5.5.0 Invalid recipient'],
    ['5.2.0', 'smtp; 550 <ines@example.com>: User unknown'],
    ['', '550 User not found'],
    ['4.0.0', 'smtp; 550 User not found'],
    ['5.0.0', "554 This user doesn't have a mail.example account (ines@mail.example)"],
    ['5.4.1', 'smtp; 550 5.4.1 Recipient address rejected: Access denied'],
    ['', '550 Recipient rejected'],
    ['', '550 #5.1.0 Address rejected.'],
    ['', '550 5.1.351 The other server knows no such mailbox -> 550 : User unknown'],
  ])('the recipient: %j %j', (status, text) => {
    expect(deliveryFault({ status, text })).toBe('recipient');
  });

  it.each([
    ['5.1.8', ''],
    ['5.2.2', ''],
    ['5.7.1', ''],
    ['5.1.90', 'smtp; 550 5.1.90 reached the daily limit for recipients'],
    ['4.0.0', 'The address was not found.'],
    ['4.4.1', 'X-Postfix; connect to mx.example.com: Connection timed out'],
    // What the server says itself counts more than who reports of it.
    ['5.1.1', 'smtp; 550 5.7.1 your network is not welcome'],
    ['5.1.1', 'smtp; 552 5.2.2 Over quota'],
    ['5.0.0', "smtp; 5.1.0 - Unknown address error 550-'5.2.2 <ines@example.com>... Mailbox full'"],
    ['5.1.1', 'smtp; 450 4.1.1 <ines@example.com>: User unknown'],
    // The sender's fault, in the words of the recipient's.
    ['5.1.0', 'smtp; 550 5.1.0 <shop@example.org> sender rejected'],
    ['5.0.0', 'smtp; 550 Domain of sender address shop@example.org does not exist'],
    ['5.1.1', 'smtp; 550 5.1.1 203.0.113.4 has sent to too many this hour'],
    ['5.1.3', 'smtp; 553 see http://www.spamhaus.org/query/bl?ip=192.0.2.4'],
    // A full or locked mailbox is there.
    ['5.7.1', 'smtp; 550 5.7.1 Recipient address rejected: locked'],
    ['5.2.1', 'smtp; 550 5.2.1 Recipient address rejected: User unknown'],
    ['5.2.1', 'smtp; 550 Recipient address rejected'],
    ['5.7.1', 'smtp; 550 Recipient address rejected: User unknown'],
  ])('something else: %j %j', (status, text) => {
    expect(deliveryFault({ status, text })).toBe('other');
  });

  it.each([
    ['5.0.0', ''],
    ['', ''],
    ['5.3.4', 'smtp; 552 5.3.4 Message too large'],
    ['5.0.0', 'smtp; 550 Rejected'],
    ['5.0.0', 'Recipient rejected'],
    // Words in an address are people's own.
    ['5.0.0', 'smtp; 554 unknown-user@does-not-exist.example no'],
    ['5.0.0', 'smtp; 554 host[5.1.1.20] closed the connection'],
  ])('nobody who is told: %j %j', (status, text) => {
    expect(deliveryFault({ status, text })).toBeUndefined();
  });

  it('is read from a text of any length and shape', () => {
    for (const piece of ['user ', '5.1.', 'a', 'a@', '<', 'no such ', 'user not\n'])
      expect(deliveryFault({ text: piece.repeat(100_000) })).toBeUndefined();
  });
});
