import { qrPath } from './qr-path.ts';

describe('the path of a QR code', () => {
  it('joins the dark squares of a row, and leaves the light ones out', () => {
    const rows = [
      [true, true, false, true],
      [false, false, false, false],
      [false, true, true, true],
    ];
    expect(qrPath(rows)).toBe('M0 0h2v1h-2zM3 0h1v1h-1zM1 2h3v1h-3z');
  });
});
