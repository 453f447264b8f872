import { gzipSync } from 'node:zlib';
import { readings } from './readings.fixture.js';

const SAID = 'Begoña Núñez, 12.345.678-5';

describe('what a content says', () => {
  const base64 = Buffer.from(SAID).toString('base64');
  it.each([
    ['as it is', SAID.toUpperCase()],
    ['decomposed', SAID.normalize('NFD')],
    ['as JSON in JSON', JSON.stringify({ body: JSON.stringify({ said: SAID }) })],
    ['escaped', `{"said": "${SAID.replaceAll(/[^ -~]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)}"}`],
    ['in a URL', `https://a.example/?q=${encodeURIComponent(SAID)}`],
    ['as bytes of a row', `{"payload": "\\\\x${Buffer.from(SAID).toString('hex')}"}`],
    ['in base64 of JSON', Buffer.from(JSON.stringify({ base64 })).toString('base64')],
    ['zipped in a row', `{"file": "\\\\x${gzipSync(`{"a": "${base64}"}`).toString('hex')}"}`],
    ['zipped in a file', gzipSync(SAID)],
  ])('is read %s', (_, content) => {
    expect(readings(content).some((text) => text.includes(SAID.toLowerCase()))).toBe(true);
  });

  it('is nothing of what was not said', () => {
    expect(readings('{"hash": "00ff00ff00ff00ff00ff00ff00ff00ff"}').join()).not.toContain('begoña');
  });
});
