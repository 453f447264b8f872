import { jest } from '@jest/globals';
import './client.suite.js';
import './erasure.suite.js';
import './impersonation.suite.js';
import './merge.suite.js';
import './new-user.suite.js';
import './purge.suite.js';
import './sender.suite.js';

jest.setTimeout(180_000);
