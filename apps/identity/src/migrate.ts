// Named by the manifests of release 2026.11.0, whose jobs may run this image: remove it in the release after the next.
process.argv.splice(2, Infinity, 'migrate');
await import('./platform.js');
