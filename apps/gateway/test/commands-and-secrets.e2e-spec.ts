import { END_WITHIN_MS } from '@customer-platform/testing';
import { jest } from '@jest/globals';
import './platform-commands.suite.js';
import './secrets.suite.js';
import { endOperated } from './operated-platform.fixture.js';

jest.setTimeout(180_000);
afterAll(endOperated, END_WITHIN_MS);
