package amqp10

// LetterOf and MessageOf are what a walk and a publish make of messages.
var (
	LetterOf  = letterOf
	MessageOf = messageOf
)
