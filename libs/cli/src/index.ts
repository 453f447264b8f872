export { Argument, InvalidArgumentError, Option } from 'commander';
export { deadLetters } from './dead-letters.command.js';
export { CommandRefusal, EXIT, type ExitCode } from './exit-codes.js';
export { installation, type FurtherPlaces } from './installation.command.js';
export { kafka } from './kafka.command.js';
export { migrate } from './migrate.command.js';
export {
  organizationOption,
  runPlatform,
  type CommandGroup,
  type Given,
  type PlatformCommand,
} from './program.js';
export { secrets } from './secrets.command.js';
export { signingKeys } from './signing-keys.command.js';
export { withContext } from './with-context.js';
