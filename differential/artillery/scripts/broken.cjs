// Cannot be loaded.
console.log('SAID before it breaks');
throw new Error('broken');
