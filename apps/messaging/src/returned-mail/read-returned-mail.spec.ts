import { readReturnedMail } from './read-returned-mail.js';
import { aDeliveryReport } from './returned-mails.fixture.js';

const APOLOGY = 'I am sorry to inform you that your message could not be delivered.';
const HARD = { kind: 'bounced', type: 'hard' };

function read(mail: string): ReturnType<typeof readReturnedMail> {
  return readReturnedMail(Buffer.from(mail));
}

describe('a returned mail', () => {
  it('is read up to its four thousandth line', async () => {
    const apologies = (lines: number): string =>
      aDeliveryReport().replace(APOLOGY, 'Sorry.\r\n'.repeat(lines));
    expect(await read(apologies(3_950))).toEqual(HARD);
    expect(await read(apologies(4_000))).toEqual({ kind: 'other' });
    expect(await read('\n'.repeat(4_000) + aDeliveryReport())).toEqual({ kind: 'other' });
  });

  it('is read however many lines the mail has that it encloses', async () => {
    expect(await read(aDeliveryReport({}, 'x\n'.repeat(50_000)))).toEqual(HARD);
  });
});
