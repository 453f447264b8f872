import { readReturnedMail } from './read-returned-mail.js';
import { aDeliveryReport, aForwardedComplaint } from './returned-mails.fixture.js';

const HARD = { kind: 'bounced', type: 'hard' };
const SOFT = { kind: 'bounced', type: 'soft' };

function read(mail: string): ReturnType<typeof readReturnedMail> {
  return readReturnedMail(Buffer.from(mail));
}

describe('a returned mail', () => {
  it('is read up to its four thousandth line', async () => {
    const apologies = (lines: number): string => aDeliveryReport({ explanation: 'Sorry.\r\n'.repeat(lines) });
    expect(await read(apologies(3_950))).toEqual(HARD);
    expect(await read(apologies(4_000))).toEqual({ kind: 'other' });
    expect(await read('\n'.repeat(4_000) + aDeliveryReport())).toEqual({ kind: 'other' });
  });

  it('is read however many lines the mail has that it encloses', async () => {
    expect(await read(aDeliveryReport({}, 'x\n'.repeat(50_000)))).toEqual(HARD);
  });

  it.each([
    [{ status: '5.0.0', diagnostic: 'smtp; 550 5.1.1 <ines@example.com>:\r\n    User unknown' }, HARD],
    [{ status: '', diagnostic: 'smtp; 550 No such user here' }, HARD],
    [{ status: '5.1.351', diagnostic: 'smtp;550 5.1.351 not known there' }, HARD],
    [{ status: '5.0.0', explanation: '<ines@example.com>: 550 user unknown (in reply to RCPT)' }, HARD],
    [{ status: '5.1.1', diagnostic: 'smtp; 552 5.2.2 Over quota' }, SOFT],
    [{ status: '5.0.0' }, SOFT],
    [{ action: 'failed (for good)' }, HARD],
    [{ action: 'Failed' }, HARD],
    [{ action: 'expired', status: '', diagnostic: 'Connection timed out' }, SOFT],
    [{ action: 'expired (after 3 days)', status: '4.4.7' }, SOFT],
    [{ action: 'delayed (will retry)', status: '4.4.1' }, { kind: 'delayed' }],
    [{ action: 'delivered (to the mailbox)', status: '2.0.0' }, { kind: 'delivered' }],
    [{ action: 'relayed' }, { kind: 'other' }],
    [{ action: '' }, { kind: 'other' }],
  ])('says by its fields what became of it: %j', async (fields, expected) => {
    expect(await read(aDeliveryReport(fields))).toEqual(expected);
  });
});

describe('a report without fields', () => {
  const qmail = (said: string): string =>
    [
      'From: MAILER-DAEMON@mx.example',
      'Subject: failure notice',
      '',
      'Hi. This is the qmail-send program at mx.example.',
      'Your message did not get through.',
      '',
      '<ines@example.com>:',
      said,
      '',
      '--- Below this line is a copy of the message.',
      '',
      'Return-Path: <shop@example.org>',
      'Subject: User unknown',
      '',
    ].join('\r\n');
  const exim = (said: string, preface = ''): string =>
    [
      'From: Mail Delivery System <Mailer-Daemon@mx.example>',
      'Subject: Mail delivery failed',
      'Content-Type: text/plain; charset=utf-8',
      '',
      preface,
      'This message was created automatically by mail delivery software.',
      '',
      said,
      '',
      '------ This is a copy of the message, including all the headers. ------',
      '',
      'Return-path: <shop@example.org>',
      'Subject: 550 user unknown',
      '',
    ].join('\n');

  it.each([
    [qmail('Sorry, no mailbox here by that name. (#5.1.1)'), HARD],
    [qmail('192.0.2.5 does not like recipient.\r\nRemote host said: 550 no such user'), HARD],
    [qmail('192.0.2.5 does not like recipient.\r\nRemote host said: 552 disk quota exceeded'), SOFT],
    [qmail('Connected to 192.0.2.5 but sender was rejected.\r\nRemote host said: 550 user unknown'), SOFT],
    [qmail('I could not establish a connection. (#4.4.1)'), SOFT],
    [exim('  ines@example.com\n    after RCPT TO:<ines@example.com>:\n    550 5.1.1 User unknown'), HARD],
    [exim('  ines@example.com\n    550 User unknown', 'Создано сервером.\n'), HARD],
    [exim('  ines@example.com\n    after MAIL FROM:<shop@example.org>:\n    550 5.1.1 User unknown'), SOFT],
    [exim('  ines@example.com\n    retry timeout exceeded'), SOFT],
    [exim('A message that you sent has not yet been delivered.'), { kind: 'delayed' }],
    ['Subject: Away\r\n\r\nI am away. 550 user unknown', { kind: 'other' }],
    ['Subject: Re: Away\r\n\r\n> Hi. This is the qmail-send program at mx.example.', { kind: 'other' }],
  ])('is read by its words (%#)', async (mail, expected) => {
    expect(await read(mail)).toEqual(expected);
  });
});

describe('a complaint without fields of RFC 5965', () => {
  it.each([
    ['Return-Path: <back@shop.example>', ['back@shop.example']],
    [
      'Authentication-Results: mailbox.example; spf=pass smtp.mailfrom=back@shop.example; dkim=pass',
      ['back@shop.example'],
    ],
    ['X-Nothing: said', []],
  ])('names its mail in what it encloses: %s', async (field, returnPaths) => {
    const mail = aForwardedComplaint(`X-HmXmrOriginalRecipient: ines@example.com\r\n${field}`);
    expect(await read(mail)).toEqual({ kind: 'complaint', returnPaths });
  });

  it('is none where a person sends a mail on', async () => {
    expect(await read(aForwardedComplaint('Return-Path: <back@shop.example>'))).toEqual({ kind: 'other' });
  });
});
