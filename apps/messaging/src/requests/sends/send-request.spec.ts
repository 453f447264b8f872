import type { CreateSendDto } from './send.dto.js';
import { readSendRequest } from './send-request.js';

const anSms = (address: string): CreateSendDto => ({
  channel: 'sms',
  recipient: { address },
  content: { text: 'Hola' },
});

describe('the body of a send', () => {
  it('with a number of no plan is refused only where it was not taken before', () => {
    const { refusedAnew } = readSendRequest(anSms('+560987650051'), new Date());
    expect(refusedAnew).toMatchObject([{ pointer: '/recipient/address', code: 'invalid_address' }]);
    expect(readSendRequest(anSms('+56987650051'), new Date()).refusedAnew).toEqual([]);
  });

  it('with what never was a number is refused at any time', () => {
    expect(() => readSendRequest(anSms('12'), new Date())).toThrow('Expected one bare address');
  });
});
